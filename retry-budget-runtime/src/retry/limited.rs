//! An attempt that may take only so long.

use super::call::Cut;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// An attempt beside the sleep that cuts it off, if there is a limit.
    #[derive(Debug)]
    pub struct Limited<F, S> {
        #[pin]
        attempt: F,
        #[pin]
        sleep: Option<S>,
        cut: Option<Cut>,
        asleep: bool,
    }
}

impl<F, S> Limited<F, S> {
    pub(crate) fn new(attempt: F, limit: Option<(S, Cut)>) -> Self {
        let (sleep, cut) = limit.unzip();
        Self { attempt, sleep, cut, asleep: false }
    }
}

/// An attempt that is ready when its time is over isn't cut off.
impl<F: Future, S: Future<Output = ()>> Future for Limited<F, S> {
    type Output = Result<F::Output, Cut>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        // From the second poll on the sleep comes first: an attempt that always uses up what tokio lets a task do before
        // it yields would leave nothing for the sleep. In the first poll it would only cost the timer's work.
        let mut over = *this.asleep && poll_sleep(this.sleep.as_mut(), cx);
        if let Poll::Ready(output) = this.attempt.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        if !*this.asleep {
            *this.asleep = true;
            over = poll_sleep(this.sleep.as_mut(), cx);
        }
        match *this.cut {
            Some(cut) if over => Poll::Ready(Err(cut)),
            _ => Poll::Pending,
        }
    }
}

fn poll_sleep<S: Future<Output = ()>>(sleep: Pin<&mut Option<S>>, cx: &mut Context<'_>) -> bool {
    sleep.as_pin_mut().is_some_and(|sleep| sleep.poll(cx).is_ready())
}
