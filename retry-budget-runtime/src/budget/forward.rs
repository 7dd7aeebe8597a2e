//! A budget behind a pointer is a budget.

use super::{Budget, CallEnd, Fate, Grant, RetryKind, SettingsError, Snapshot};
use crate::{BudgetSettings, Time};
use std::sync::{Arc, LazyLock};

macro_rules! forward {
    ($($(#[$doc:meta])* impl<B $(: ?$sized:ident)?> $pointer:ty;)+) => {$(
        $(#[$doc])*
        impl<B: Budget $(+ ?$sized)?> Budget for $pointer {
            #[inline]
            fn name(&self) -> &str {
                (**self).name()
            }
            #[inline]
            fn reads_clock(&self) -> bool {
                (**self).reads_clock()
            }
            #[inline]
            fn begin(&self, now: Time) {
                (**self).begin(now);
            }
            #[inline]
            fn try_retry(&self, kind: RetryKind, now: Time) -> Option<Grant> {
                (**self).try_retry(kind, now)
            }
            #[inline]
            fn final_failure(&self, kind: Option<RetryKind>) {
                (**self).final_failure(kind);
            }
            #[inline]
            fn settle(&self, grant: Grant, fate: Fate) {
                (**self).settle(grant, fate);
            }
            #[inline]
            fn end(&self, end: CallEnd) {
                (**self).end(end);
            }
            #[inline]
            fn snapshot(&self, now: Time) -> Snapshot {
                (**self).snapshot(now)
            }
            #[inline]
            fn configure(&self, settings: &BudgetSettings) -> Result<(), SettingsError> {
                (**self).configure(settings)
            }
            #[inline]
            fn place(&self) -> usize {
                (**self).place()
            }
        }
    )+};
}

forward! {
    impl<B: ?Sized> &B;
    impl<B: ?Sized> &mut B;
    impl<B: ?Sized> Box<B>;
    impl<B: ?Sized> Arc<B>;
    /// For a budget whose settings are known only at start-up.
    impl<B> LazyLock<B>;
}
