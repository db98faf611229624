//! One request of loadlab itself, through the engine's own connection.

use std::time::Duration;

use tokio::time::timeout;

use super::http::{self, Answer};
use super::role::Running;
use crate::engine::Duplex;
use crate::model::account::BoundRequest;

/// Opens a connection to the role's endpoint.
///
/// # Errors
/// In words.
pub(super) async fn dial(running: &Running<'_>) -> Result<Box<dyn Duplex>, String> {
    let (place, endpoint) = (&running.place, &running.definition.endpoint);
    let dialled = place
        .engine
        .dial(&place.group, &endpoint.member, &endpoint.port);
    dialled.await.map_err(|error| error.to_string())
}

/// Asks once on a connection of its own.
///
/// # Errors
/// Why there is no answer, in words.
pub(super) async fn ask(
    running: &Running<'_>,
    request: &BoundRequest,
    within: Duration,
) -> Result<Answer, String> {
    let host = running.host();
    let asked = async {
        let connection = dial(running).await?;
        let answer = http::exchange(connection, &host, request, within).await;
        answer.map_err(|fault| fault.to_string())
    };
    let overdue = || format!("no connection within {within:?}");
    timeout(within, asked).await.map_err(|_| overdue())?
}
