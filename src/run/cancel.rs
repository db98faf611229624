//! Cancelling a run: the first request ends it cleanly, the second at once.

use std::sync::Arc;

use tokio::sync::watch;

/// A request to stop, shared between whoever hears the signal and the run.
#[derive(Debug, Clone)]
pub struct Cancel {
    requests: Arc<watch::Sender<u32>>,
}

impl Default for Cancel {
    fn default() -> Self {
        Self {
            requests: Arc::new(watch::Sender::new(0)),
        }
    }
}

impl Cancel {
    /// Asks to stop. Returns how often it was asked by now: 1 ends the run cleanly after marking the
    /// block in progress, 2 ends it at once.
    pub fn request(&self) -> u32 {
        self.requests.send_modify(|count| *count += 1);
        *self.requests.borrow()
    }

    /// Whether it was asked at least once.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.requests.borrow() >= 1
    }

    /// Waits until it was asked at least once.
    pub async fn requested(&self) {
        self.reached(1).await;
    }

    /// Waits until it was asked at least twice.
    pub async fn insisted(&self) {
        self.reached(2).await;
    }

    async fn reached(&self, count: u32) {
        let mut requests = self.requests.subscribe();
        // The sender lives as long as this borrow: the channel cannot be closed.
        let _ = requests.wait_for(|requests| *requests >= count).await;
    }
}
