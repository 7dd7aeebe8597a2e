//! What is at home with reqwest: one source for each of its versions that is in use.

/// The module for a version. Its documentation is one text, whose examples name the module.
macro_rules! version {
    ($feature:literal, $module:ident, $name:literal, $path:literal) => {
        #[cfg(feature = $feature)]
        #[doc = include_str!("reqwest/guide/beginning.md")]
        ///
        #[doc = concat!("(Feature `", $feature, "`; the numbers are reqwest's version.)")]
        ///
        /// ```
        /// # extern crate retry_budget_runtime as retry_budget;
        #[doc = concat!("# extern crate ", $name, " as reqwest;")]
        /// # mod retry_budget { pub use retry_budget_macros::*; pub use retry_budget_runtime::*; }
        #[doc = concat!("use retry_budget::", $name, "::{HttpError, OrRetry};")]
        #[doc = include_str!("reqwest/guide/first.md")]
        ///
        /// ```
        /// # extern crate retry_budget_runtime as retry_budget;
        #[doc = concat!("# extern crate ", $name, " as reqwest;")]
        /// # mod retry_budget { pub use retry_budget_macros::*; pub use retry_budget_runtime::*; }
        #[doc = concat!("use retry_budget::", $name, "::{FailedAnswer, HttpError, OrRetry};")]
        #[doc = include_str!("reqwest/guide/body.md")]
        ///
        /// ```
        /// # extern crate retry_budget_runtime as retry_budget;
        #[doc = concat!("# extern crate ", $name, " as reqwest;")]
        /// # mod retry_budget { pub use retry_budget_macros::*; pub use retry_budget_runtime::*; }
        #[doc = concat!("use retry_budget::", $name, "::verdict;")]
        #[doc = include_str!("reqwest/guide/inside_ok.md")]
        #[path = $path]
        pub mod $module;
    };
}

version!("reqwest-0_13", reqwest_0_13, "reqwest_0_13", "reqwest/with_0_13.rs");
version!("reqwest-0_12", reqwest_0_12, "reqwest_0_12", "reqwest/with_0_12.rs");
