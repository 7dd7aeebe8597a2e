//! The budget that bounds all keys together.

use crate::Budget;
use std::ops::Deref;
use std::sync::Arc;

#[derive(Clone)]
pub(super) enum Parent {
    Static(&'static dyn Budget),
    Shared(Arc<dyn Budget>),
}

impl Deref for Parent {
    type Target = dyn Budget;

    #[inline]
    fn deref(&self) -> &Self::Target {
        match self {
            Self::Static(budget) => *budget,
            Self::Shared(budget) => &**budget,
        }
    }
}

impl Parent {
    pub(super) fn reads_clock(&self) -> bool {
        (**self).reads_clock()
    }
}
