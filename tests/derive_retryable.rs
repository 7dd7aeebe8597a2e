//! `#[derive(Retryable)]`: what each word makes of an error.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(
    dead_code,
    clippy::redundant_pub_crate,
    clippy::unnecessary_wraps,
    clippy::unused_self,
    clippy::use_self,
    reason = "of the tests' own types; none is about the expansion"
)]

use retry_budget::{
    Budget, Exhausted, NEVER, RetryKind, RetryPolicy, Retryable, Stop, StopReason, TokenBudget, Verdict, retry,
};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

const THREE_SECONDS: Duration = Duration::from_secs(3);

fn reset() -> io::Error {
    ErrorKind::ConnectionReset.into()
}

fn refused() -> io::Error {
    ErrorKind::ConnectionRefused.into()
}

/// A stop as a call gets one.
async fn stop() -> Stop {
    let gave_up = retry(&NEVER, &RetryPolicy::REQUEST, async |_| Err::<(), _>(reset())).explained().await;
    gave_up.unwrap_err().stop().clone()
}

mod on_variants {
    use super::*;

    #[derive(Debug, Retryable)]
    enum PartnerError {
        #[retry(transient)]
        Broken,
        #[retry(transient, not_sent)]
        Unreachable,
        #[retry(throttling)]
        TooMany(u16, &'static str),
        #[retry(never)]
        NotFound {
            station: u32,
        },
        Unsaid(u32),
        #[retry(transparent)]
        Io(io::Error),
        #[retry(transparent)]
        Named {
            inner: io::Error,
        },
    }

    #[test]
    fn each_word() {
        assert_eq!(PartnerError::Broken.verdict(), Verdict::TRANSIENT);
        assert_eq!(PartnerError::Unreachable.verdict(), Verdict::TRANSIENT.not_sent());
        assert_eq!(PartnerError::TooMany(429, "").verdict(), Verdict::THROTTLING);
        assert_eq!(PartnerError::NotFound { station: 1 }.verdict(), Verdict::NEVER);
        assert_eq!(PartnerError::Unsaid(1).verdict(), Verdict::NEVER);
        assert_eq!(PartnerError::Io(refused()).verdict(), Verdict::TRANSIENT.not_sent());
        assert_eq!(PartnerError::Io(io::Error::other("")).verdict(), Verdict::NEVER);
        assert_eq!(PartnerError::Named { inner: reset() }.verdict(), Verdict::TRANSIENT);
    }

    #[tokio::test]
    async fn without_a_variant_for_it_a_given_up_error_stays_as_it_is() {
        let error = PartnerError::TooMany(429, "a").exhausted(stop().await);
        assert!(matches!(error, PartnerError::TooMany(429, "a")));
    }
}

mod hints {
    use super::*;

    #[derive(Retryable)]
    enum Hinted {
        #[retry(throttling, after = retry_after)]
        Named { retry_after: Duration, status: u16 },
        #[retry(after = 1, transient, not_sent)]
        Indexed(u16, Option<Duration>),
        #[retry(throttling)]
        #[retry(after = r#in)]
        Raw { r#in: Option<Duration> },
    }

    #[derive(Retryable)]
    #[retry(throttling, after = retry_after)]
    struct Busy {
        retry_after: Option<Duration>,
    }

    #[derive(Retryable)]
    #[retry(throttling, after = 0)]
    struct Wait(Duration);

    #[test]
    fn from_a_duration_or_an_option_of_one() {
        let told = Verdict::THROTTLING.after(THREE_SECONDS);
        assert_eq!(Hinted::Named { retry_after: THREE_SECONDS, status: 429 }.verdict(), told);
        let not_sent = Verdict::TRANSIENT.not_sent();
        assert_eq!(Hinted::Indexed(429, Some(THREE_SECONDS)).verdict(), not_sent.after(THREE_SECONDS));
        assert_eq!(Hinted::Indexed(429, None).verdict(), not_sent);
        assert_eq!(Hinted::Raw { r#in: Some(Duration::ZERO) }.verdict(), Verdict::THROTTLING.after(Duration::ZERO));
        assert_eq!(Busy { retry_after: Some(THREE_SECONDS) }.verdict(), told);
        assert_eq!(Busy { retry_after: None }.verdict(), Verdict::THROTTLING);
        assert_eq!(Wait(THREE_SECONDS).verdict(), told);
    }
}

mod functions {
    use super::*;

    const fn is_server_error(error: &Status) -> bool {
        error.0 >= 500
    }

    #[derive(Retryable)]
    #[retry(with = is_server_error)]
    struct Status(u16);

    mod judges {
        use super::{Duration, Mixed, RetryKind, Verdict};

        pub(super) trait Judge {
            fn judge(&self) -> Verdict;
        }

        impl Judge for Mixed {
            fn judge(&self) -> Verdict {
                Verdict::TRANSIENT.not_sent()
            }
        }

        pub(super) const fn kind(_: &Mixed) -> Option<RetryKind> {
            Some(RetryKind::Throttling)
        }

        pub(super) fn verdict<E: Into<Option<Duration>> + Clone>(error: &E) -> Verdict {
            Verdict::THROTTLING.after(error.clone())
        }
    }

    #[derive(Clone, Retryable)]
    enum Mixed {
        #[retry(with = judges::kind)]
        Kind,
        #[retry(with = judges::verdict::<Self>)]
        Generic,
        #[retry(with = Self::is_early)]
        Method { at: u32 },
        #[retry(with = <Self as judges::Judge>::judge)]
        OfATrait,
    }

    impl Mixed {
        const fn is_early(&self) -> bool {
            matches!(self, Self::Method { at: ..10 })
        }
    }

    impl From<Mixed> for Option<Duration> {
        fn from(_: Mixed) -> Self {
            Some(THREE_SECONDS)
        }
    }

    #[derive(Retryable)]
    #[retry(with = code)]
    enum ByDefault {
        A,
        #[retry(never)]
        B,
    }

    const fn code(error: &ByDefault) -> RetryKind {
        match error {
            ByDefault::A => RetryKind::Transient,
            ByDefault::B => unreachable!(),
        }
    }

    #[test]
    fn decide() {
        assert_eq!(Status(503).verdict(), Verdict::TRANSIENT);
        assert_eq!(Status(404).verdict(), Verdict::NEVER);
        assert_eq!(Mixed::Kind.verdict(), Verdict::THROTTLING);
        assert_eq!(Mixed::Generic.verdict(), Verdict::THROTTLING.after(THREE_SECONDS));
        assert_eq!(Mixed::Method { at: 9 }.verdict(), Verdict::TRANSIENT);
        assert_eq!(Mixed::Method { at: 10 }.verdict(), Verdict::NEVER);
        assert_eq!(Mixed::OfATrait.verdict(), Verdict::TRANSIENT.not_sent());
        assert_eq!(ByDefault::A.verdict(), Verdict::TRANSIENT);
        assert_eq!(ByDefault::B.verdict(), Verdict::NEVER);
    }
}

mod defaults {
    use super::*;

    #[derive(Retryable)]
    #[retry(transient, not_sent)]
    enum Transient {
        Unsaid,
        #[retry(never)]
        Never,
        #[retry(throttling)]
        Throttling,
    }

    #[derive(Retryable)]
    #[retry(throttling)]
    enum Throttling {
        Unsaid(u8),
    }

    #[derive(Retryable)]
    #[retry(never)]
    enum Never {
        Unsaid,
    }

    #[derive(Debug, thiserror::Error, Retryable)]
    #[retry(transient)]
    #[error("failed")]
    enum Converted {
        Io(#[from] io::Error),
    }

    #[test]
    fn hold_for_variants_that_say_nothing() {
        assert_eq!(Transient::Unsaid.verdict(), Verdict::TRANSIENT.not_sent());
        assert_eq!(Transient::Never.verdict(), Verdict::NEVER);
        assert_eq!(Transient::Throttling.verdict(), Verdict::THROTTLING);
        assert_eq!(Throttling::Unsaid(0).verdict(), Verdict::THROTTLING);
        assert_eq!(Never::Unsaid.verdict(), Verdict::NEVER);
        assert_eq!(Converted::from(io::Error::other("")).verdict(), Verdict::TRANSIENT);
    }
}

mod structs {
    use super::*;

    #[derive(Retryable)]
    #[retry(transient)]
    struct Timeout;

    #[derive(Retryable)]
    #[retry(never)]
    struct Forbidden {
        _who: String,
    }

    #[derive(Retryable)]
    #[retry(transparent)]
    struct Wrapper(io::Error);

    #[derive(Retryable)]
    #[retry(transparent)]
    struct Named<'a> {
        inner: &'a Wrapper,
    }

    #[test]
    fn as_a_whole() {
        assert_eq!(Timeout.verdict(), Verdict::TRANSIENT);
        assert_eq!(Forbidden { _who: String::new() }.verdict(), Verdict::NEVER);
        assert_eq!(Wrapper(reset()).verdict(), Verdict::TRANSIENT);
        assert_eq!(Named { inner: &Wrapper(refused()) }.verdict(), Verdict::TRANSIENT.not_sent());
    }
}

mod generics {
    use super::*;
    use std::fmt::Debug;
    use std::marker::PhantomData;

    #[derive(Retryable)]
    enum Either<'a, L, R: Debug, const N: usize = 4>
    where
        L: 'a,
    {
        #[retry(transparent)]
        Left(Box<L>),
        #[retry(transparent)]
        Right(&'a Arc<R>),
        #[retry(throttling)]
        Other([u8; N]),
    }

    /// Nothing is asked of `T`.
    #[derive(Retryable)]
    #[retry(transient)]
    struct Tagged<T>(PhantomData<T>);

    trait Client {
        type Error;
    }

    struct Http;

    impl Client for Http {
        type Error = io::Error;
    }

    #[derive(Retryable)]
    #[retry(transparent)]
    struct Of<C: Client>(C::Error);

    #[derive(Retryable)]
    enum Recursive<T> {
        #[retry(transparent)]
        Leaf(T),
        #[retry(transparent)]
        Node(Box<Self>),
        #[retry(transparent)]
        Shared(Arc<Recursive<T>>),
    }

    type Both = Either<'static, io::Error, io::Error>;

    #[test]
    fn transparent_fields_are_bounded_and_nothing_else() {
        assert_eq!(Both::Left(Box::new(reset())).verdict(), Verdict::TRANSIENT);
        let error = Arc::new(refused());
        assert_eq!(
            Either::<'_, io::Error, _>::Right(&error).verdict(),
            Verdict::TRANSIENT.not_sent(),
            "a borrowed one too"
        );
        assert_eq!(Both::Other([0; 4]).verdict(), Verdict::THROTTLING);
        assert_eq!(Tagged::<u8>(PhantomData).verdict(), Verdict::TRANSIENT);
        assert_eq!(Of::<Http>(reset()).verdict(), Verdict::TRANSIENT);
        let leaf = || Recursive::Leaf(reset());
        assert_eq!(Recursive::Node(Box::new(leaf())).verdict(), Verdict::TRANSIENT);
        assert_eq!(Recursive::Shared(Arc::new(leaf())).verdict(), Verdict::TRANSIENT);
    }
}

mod given_up {
    use super::*;

    /// As on the crate's first page.
    #[derive(Debug, thiserror::Error, Retryable)]
    enum PartnerError {
        #[error("no such station")]
        #[retry(never)]
        NotFound,
        #[error(transparent)]
        #[retry(transparent)]
        Http(#[from] io::Error),
        #[error("out of time: {0}")]
        #[retry(transient)]
        Elapsed(#[from] tokio::time::error::Elapsed),
        #[error("gave up: {0}")]
        #[retry(exhausted)]
        GaveUp(#[from] Box<Exhausted<Self>>),
    }

    static PARTNER: TokenBudget = TokenBudget::builder("partner").build();

    #[tokio::test]
    async fn goes_into_its_variant_with_reason_and_source() {
        let error = retry(&NEVER, &RetryPolicy::REQUEST, async |_| Err::<(), _>(PartnerError::Http(reset())))
            .await
            .unwrap_err();
        let PartnerError::GaveUp(gave_up) = &error else { panic!("{error:?}") };
        assert_eq!(gave_up.stop().reason, StopReason::BudgetEmpty);
        assert!(matches!(gave_up.error(), PartnerError::Http(_)));
        assert_eq!(error.to_string(), "gave up: retry budget `NEVER` is empty (1 attempt)");
        let source = std::error::Error::source(&error).unwrap().source().unwrap();
        assert_eq!(source.to_string(), "connection reset");
    }

    #[tokio::test]
    async fn is_not_retried_by_a_loop_around_it_and_not_wrapped_again() {
        let mut attempts = 0;
        let error = retry(&PARTNER, &RetryPolicy::REQUEST, async |_| {
            attempts += 1;
            retry(&NEVER, &RetryPolicy::REQUEST, async |_| Err::<(), _>(PartnerError::Http(reset()))).await
        })
        .await
        .unwrap_err();
        assert_eq!(attempts, 1);
        let PartnerError::GaveUp(gave_up) = error else { panic!("{error:?}") };
        assert!(matches!(gave_up.error(), PartnerError::Http(_)));
    }

    #[tokio::test]
    async fn is_not_what_happens_to_an_error_that_is_never_retried() {
        let error =
            retry(&PARTNER, &RetryPolicy::REQUEST, async |_| Err::<(), _>(PartnerError::NotFound)).await.unwrap_err();
        assert!(matches!(error, PartnerError::NotFound));
        assert_eq!(PARTNER.snapshot(retry_budget::Time::ZERO).denied, 0);
    }

    #[derive(Debug, Retryable)]
    enum Named<T> {
        #[retry(transparent)]
        Inner(T),
        #[retry(exhausted)]
        GaveUp { source: Summary },
    }

    #[derive(Debug)]
    struct Summary(String);

    impl<T> From<Exhausted<Named<T>>> for Summary {
        fn from(exhausted: Exhausted<Named<T>>) -> Self {
            Self(exhausted.to_string())
        }
    }

    #[tokio::test]
    async fn goes_into_a_named_field_and_a_type_of_ones_own() {
        let error = Named::Inner(reset()).exhausted(stop().await);
        let Named::GaveUp { source } = &error else { panic!("{error:?}") };
        assert_eq!(source.0, "retry budget `NEVER` is empty (1 attempt)");
        assert_eq!(error.verdict(), Verdict::NEVER);
    }

    #[derive(Debug, Retryable)]
    enum Outer {
        #[retry(transparent)]
        Inner(PartnerError),
    }

    #[tokio::test]
    async fn is_not_forwarded_to_the_error_inside() {
        let error = Outer::Inner(PartnerError::Http(reset())).exhausted(stop().await);
        assert!(matches!(error, Outer::Inner(PartnerError::Http(_))));
    }
}

mod odd_types {

    use super::*;
    use std::convert::Infallible;

    #[derive(Retryable)]
    enum Empty {}

    #[derive(Retryable)]
    enum Uninhabited {
        #[retry(transparent)]
        Never(Infallible),
        #[retry(transient)]
        Also(Infallible),
        #[retry(transient)]
        Broken,
    }

    #[derive(Retryable)]
    #[retry(transient)]
    enum Conditional {
        #[cfg(any())]
        Absent(NoSuchType),
        #[cfg(not(any()))]
        #[cfg_attr(not(any()), retry(throttling))]
        Present,
    }

    #[derive(Retryable)]
    #[non_exhaustive]
    pub(super) enum Open {
        #[retry(transient)]
        Broken,
        #[doc(hidden)]
        Hidden,
    }

    #[derive(Retryable)]
    enum r#Raw {
        #[retry(transient)]
        r#Type,
        #[retry(transparent)]
        r#Struct { r#fn: io::Error },
    }

    #[derive(Retryable)]
    #[retry(transient)]
    #[repr(u8)]
    enum Numbered {
        A = 7,
    }

    #[test]
    fn work() {
        assert_eq!(Uninhabited::Broken.verdict(), Verdict::TRANSIENT);
        assert_eq!(Conditional::Present.verdict(), Verdict::THROTTLING);
        assert_eq!(Open::Broken.verdict(), Verdict::TRANSIENT);
        assert_eq!(Open::Hidden.verdict(), Verdict::NEVER);
        assert_eq!(Raw::Type.verdict(), Verdict::TRANSIENT);
        assert_eq!(Raw::Struct { r#fn: reset() }.verdict(), Verdict::TRANSIENT);
        assert_eq!(Numbered::A.verdict(), Verdict::TRANSIENT);
        let _: fn(&Empty) -> Verdict = Empty::verdict;
    }

    /// A use of a deprecated variant would warn; the derive is none.
    mod deprecated_variants {
        #![deny(deprecated)]
        use retry_budget::Retryable;

        #[derive(Retryable)]
        pub(super) enum Old {
            #[deprecated]
            #[retry(transient)]
            Gone,
            #[deprecated(note = "use another")]
            #[retry(throttling, after = wait)]
            Slow {
                #[deprecated]
                wait: std::time::Duration,
            },
            #[retry(never)]
            Kept,
        }

        #[deprecated]
        #[derive(Retryable)]
        #[retry(transparent)]
        pub(super) struct OldStruct(std::io::Error);
    }
}

mod names {
    //! Nothing that the expansion says can be taken for something of the user's.
    #![allow(non_camel_case_types, non_upper_case_globals, reason = "names that get in the way")]

    mod core {}
    mod std {}
    mod retry_budget {}
    struct Verdict;
    struct Option;
    enum Result {}
    const it: u8 = 0;
    const stop: u8 = 0;

    #[derive(::retry_budget::Retryable)]
    enum Shadowed {
        #[retry(transparent)]
        Inner(::std::io::Error),
        #[retry(throttling, after = it)]
        Busy { it: ::std::time::Duration },
        #[retry(with = Self::judge)]
        Judged,
        #[retry(exhausted)]
        GaveUp(Box<::retry_budget::Exhausted<Self>>),
    }

    impl Shadowed {
        const fn judge(&self) -> bool {
            true
        }

        /// Not the trait's.
        const fn verdict(&self) -> u8 {
            7
        }
    }

    #[test]
    fn are_hygienic() {
        use ::retry_budget::Retryable;
        assert_eq!(Shadowed::Judged.verdict(), 7);
        assert_eq!(Retryable::verdict(&Shadowed::Judged), ::retry_budget::Verdict::TRANSIENT);
    }
}

mod roots {
    use super::*;

    mod framework {
        pub(super) use retry_budget as budgets;
    }

    #[derive(retry_budget::Retryable)]
    #[retry(transient, crate = framework::budgets)]
    struct Reexported;

    macro_rules! errors {
        ($(#[$attr:meta])* $name:ident($inner:ty) by $judge:path) => {
            #[derive(Retryable)]
            $(#[$attr])*
            enum $name {
                #[retry(transparent)]
                Inner($inner),
                #[retry(with = $judge)]
                Judged,
            }
        };
    }

    const fn always<E>(_: &E) -> bool {
        true
    }

    errors! {
        #[retry(crate = ::retry_budget)]
        Made(Box<io::Error>) by always
    }

    macro_rules! errors_of_a_framework {
        ($name:ident) => {
            #[derive(Retryable)]
            #[retry(transient, crate = $crate::roots::framework::budgets)]
            struct $name;
        };
    }

    errors_of_a_framework!(Framed);

    #[test]
    fn can_be_elsewhere_and_in_macros() {
        assert_eq!(Reexported.verdict(), Verdict::TRANSIENT);
        assert_eq!(Made::Inner(Box::new(reset())).verdict(), Verdict::TRANSIENT);
        assert_eq!(Made::Judged.verdict(), Verdict::TRANSIENT);
        assert_eq!(Framed.verdict(), Verdict::TRANSIENT);
    }
}
