//! Waiting by the kernel's own timer: tokio's goes in steps of a millisecond.

use std::time::Duration;

/// Waits this long, to the kernel's precision.
#[cfg(target_os = "linux")]
pub async fn wait(time: Duration) {
    if alarm(time).await.is_err() {
        tokio::time::sleep(time).await;
    }
}

/// Waits this long, to a millisecond.
#[cfg(not(target_os = "linux"))]
pub async fn wait(time: Duration) {
    tokio::time::sleep(time).await;
}

#[cfg(target_os = "linux")]
#[allow(
    deprecated,
    reason = "its successor is unsafe; an owned descriptor stays what it is while it lives"
)]
async fn alarm(time: Duration) -> std::io::Result<()> {
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
    let never = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let value = Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    };
    let once = Itimerspec {
        it_interval: never,
        it_value: value,
    };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &once)?;
    let timer = tokio::io::unix::AsyncFd::new(timer)?;
    timer.readable().await.map(|_| ())
}
