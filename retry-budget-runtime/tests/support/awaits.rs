//! A call that awaits twice in each attempt, polled by hand, to be dropped wherever one likes.

use retry_budget_runtime::{Budget, Jitter, RetryPolicy, Retryable, Verdict, retry};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

pub(crate) const POLICY: RetryPolicy = RetryPolicy::builder().jitter(Jitter::None).build();

#[derive(Debug)]
pub(crate) struct Down;

impl Retryable for Down {
    fn verdict(&self) -> Verdict {
        Verdict::TRANSIENT
    }
}

/// Pending once, then ready: an await point that needs nobody to wake it.
#[derive(Default)]
struct Pause {
    over: bool,
}

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.over, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A call that awaits twice in each attempt, and fails until the given one.
pub(crate) async fn call(budget: impl Budget, policy: &RetryPolicy, succeeds_at: u32) -> Result<(), Down> {
    retry(budget, policy, async |attempt| {
        Pause::default().await;
        Pause::default().await;
        if attempt.number() == succeeds_at { Ok(()) } else { Err(Down) }
    })
    .await
}

/// Polls that many times, waiting out any delay in between; whether it is done.
pub(crate) async fn polled(mut future: Pin<&mut impl Future>, times: usize) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    for nth in 1..=times {
        if nth > 1 {
            tokio::time::advance(Duration::from_secs(3)).await;
        }
        if future.as_mut().poll(&mut cx).is_ready() {
            assert_eq!(nth, times, "it was done before");
            return true;
        }
    }
    false
}
