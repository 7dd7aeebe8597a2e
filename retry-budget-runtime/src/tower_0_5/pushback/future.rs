//! An answer on its way.

use super::answer::{Protocol, say_dont};
use super::load::Load;
use crate::Time;
use crate::retry::inside::{give_up, watching};
use http::Response;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

pin_project! {
    /// An answer on its way, which is told not to be asked for again if it fails for a reason that stays.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct PushbackFuture<F> {
        #[pin]
        answer: F,
        gave_up: bool,
        protocol: Protocol,
        load: Arc<Load>,
    }
}

impl<F> PushbackFuture<F> {
    pub(super) fn new(answer: F, gave_up: bool, protocol: Protocol, load: Arc<Load>) -> Self {
        Self { answer, gave_up, protocol, load }
    }
}

impl<F, B, E> Future for PushbackFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut result = ready!(watching(this.gave_up, || this.answer.poll(cx)));
        if let Ok(response) = &mut result {
            say_dont(response, *this.protocol, || *this.gave_up || this.load.is_too_much(Time::now()));
        }
        if *this.gave_up {
            give_up(); // a loop around this service in the same task is to see it too
        }
        Poll::Ready(result)
    }
}
