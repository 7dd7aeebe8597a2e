//! What all budgets check about their settings, at compile time where they are statics.

/// A setting that no budget or policy can have.
///
/// `try_build()` returns it; `build()` stops the compiler with its text when the budget is a `static`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct SettingsError {
    problem: &'static str,
}

impl SettingsError {
    pub(crate) const fn new(problem: &'static str) -> Self {
        Self { problem }
    }

    /// What is wrong, and what to write instead.
    pub const fn problem(&self) -> &'static str {
        self.problem
    }
}

/// A ratio in millionths, so that 0.29 of 100 is 29 and not 28.999….
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millionths(u32);

impl Millionths {
    const ONE: u32 = 1_000_000;

    /// Rounds to the nearest millionth.
    pub(crate) const fn from_ratio(ratio: f64) -> Result<Self, SettingsError> {
        if ratio > 1.0 {
            return Err(SettingsError::new(
                "ratio is a share of the requests, above 0 and at most 1: write 0.1 for 10 %",
            ));
        }
        let millionths = to_millionths(ratio);
        if millionths == 0 {
            return Err(SettingsError::new(
                "ratio is a share of the requests, at least 0.000001 and at most 1; a budget that never grants is `NEVER`",
            ));
        }
        Ok(Self(millionths))
    }

    pub(crate) const fn new(millionths: u32) -> Self {
        Self(millionths)
    }

    /// The number that [`from_ratio`](Self::from_ratio) makes this of.
    pub(crate) fn ratio(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ONE)
    }

    /// What one request earns, in millionths of a retry.
    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    /// This share of `count`, rounded down.
    pub(crate) const fn of(self, count: u64) -> u64 {
        // At most u64::MAX × 1, so the result fits where it came from.
        #[allow(clippy::cast_possible_truncation)]
        let share = (count as u128 * self.0 as u128 / Self::ONE as u128) as u64;
        share
    }
}

/// A number in millionths, rounded to the nearest. A NaN or a negative number becomes 0.
pub(crate) const fn to_millionths(number: f64) -> u32 {
    rounded(number * 1e6)
}

/// A number in thousandths, rounded to the nearest. A NaN or a negative number becomes 0.
pub(crate) const fn to_thousandths(number: f64) -> u32 {
    rounded(number * 1e3)
}

// Truncation is the point. (`f64::round` isn't const in our oldest compiler.)
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
const fn rounded(number: f64) -> u32 {
    (number + 0.5) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_exact_to_the_millionth() {
        let share = |ratio: f64, count| Millionths::from_ratio(ratio).map(|it| it.of(count));
        assert_eq!(share(0.29, 100), Ok(29));
        assert_eq!(share(0.1, 30), Ok(3));
        assert_eq!(share(0.7, 10), Ok(7));
        assert_eq!(share(1.0, u64::MAX), Ok(u64::MAX));
        assert_eq!(share(0.000_001, 999_999), Ok(0));
        assert_eq!(share(0.000_001, 1_000_000), Ok(1));
        assert_eq!(share(0.000_000_5, 1_000_000), Ok(1), "half a millionth rounds up");
    }

    #[test]
    fn numbers_are_rounded_and_not_cut() {
        assert_eq!(to_thousandths(0.5466), 547);
        assert_eq!(to_thousandths(1.001), 1_001, "1.001 × 1000 is a little less");
        assert_eq!(to_thousandths(0.000_4), 0);
        assert_eq!(to_millionths(0.95), 950_000);
        assert_eq!(to_millionths(4_000.0), 4_000_000_000);
        for nothing in [-1.0, -0.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!((to_thousandths(nothing), to_millionths(nothing)), (0, 0), "{nothing}");
        }
    }

    #[test]
    fn what_is_no_share_is_refused() {
        for ratio in [0.0, -0.1, 0.000_000_4, 1.000_001, 10.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Millionths::from_ratio(ratio).is_err(), "{ratio}");
        }
    }
}
