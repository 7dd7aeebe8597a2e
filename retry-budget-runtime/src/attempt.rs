//! Which attempt this is.

use crate::RetryKind;

/// One run of a call's body, as the body may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    number: u32,
    after: Option<RetryKind>,
}

impl Attempt {
    pub(crate) const fn new(number: u32, after: Option<RetryKind>) -> Self {
        Self { number, after }
    }

    /// The attempt's number, which counts from 1.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Whether this is a retry.
    pub const fn is_retry(self) -> bool {
        self.number > 1
    }

    /// The kind of the failure before this attempt; `None` at the first.
    pub const fn last_failure(self) -> Option<RetryKind> {
        self.after
    }
}
