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
        // Truncation is the point; a NaN or a negative number becomes 0.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let millionths = (ratio * 1e6 + 0.5) as u32;
        if millionths == 0 {
            return Err(SettingsError::new(
                "ratio is a share of the requests, at least 0.000001 and at most 1; a budget that never grants is `NEVER`",
            ));
        }
        Ok(Self(millionths))
    }

    /// This share of `count`, rounded down.
    pub(crate) const fn of(self, count: u64) -> u64 {
        // At most u64::MAX × 1, so the result fits where it came from.
        #[allow(clippy::cast_possible_truncation)]
        let share = (count as u128 * self.0 as u128 / Self::ONE as u128) as u64;
        share
    }
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
    fn what_is_no_share_is_refused() {
        for ratio in [0.0, -0.1, 0.000_000_4, 1.000_001, 10.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Millionths::from_ratio(ratio).is_err(), "{ratio}");
        }
    }
}
