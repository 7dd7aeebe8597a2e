//! Errors in a box, whose type is gone.

use super::known::verdict_in_chain;
use crate::{ExhaustedBox, Retryable, Stop, Verdict};
use std::error::Error;
use std::fmt::Display;

macro_rules! boxed {
    ($error:ty) => {
        #[doc = include_str!("in_chain.md")]
        ///
        /// It comes back in an [`ExhaustedBox`], which says how the original is found.
        impl Retryable for Box<$error> {
            fn verdict(&self) -> Verdict {
                verdict_in_chain(&**self).into()
            }

            fn event_text(&self) -> Option<&dyn Display> {
                Some(self)
            }

            fn exhausted(self, stop: Stop) -> Self {
                Box::new(ExhaustedBox::new(self, stop))
            }
        }
    };
}

boxed!(dyn Error + Send + Sync);
boxed!(dyn Error);

/// Never: the call has already been given up.
impl<E: ?Sized> Retryable for ExhaustedBox<E> {
    fn verdict(&self) -> Verdict {
        Verdict::NEVER
    }

    fn event_text(&self) -> Option<&dyn Display> {
        Some(self.stop())
    }
}
