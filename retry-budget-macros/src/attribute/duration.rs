//! Durations as people write them: `"50ms"`, `"1.5s"`.

use std::time::Duration;

/// What a duration looks like, for messages.
pub(super) const FORM: &str = "a number and a unit, such as \"50ms\", \"1.5s\" or \"2m\" (units: ns, us, ms, s, m, h)";

/// Reads a duration; what is wrong with it otherwise.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number = number.replace('_', "");
    if number.is_empty() {
        return Err(format!("a duration is {FORM}"));
    }
    let unit = unit.trim();
    let Some(nanos_per_unit) = nanos_per(unit) else {
        return Err(match unit {
            "" => format!("a duration needs a unit: \"{number}ms\" or \"{number}s\""),
            _ => format!("`{unit}` is no unit of time: a duration is {FORM}"),
        });
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let nanos = read(whole).and_then(|whole| whole.checked_mul(nanos_per_unit));
    let nanos = nanos.and_then(|nanos| nanos.checked_add(part_of(fraction, nanos_per_unit)?));
    match nanos.map(|nanos| (u64::try_from(nanos / 1_000_000_000), nanos % 1_000_000_000)) {
        Some((Ok(seconds), rest)) => Ok(Duration::new(seconds, u32::try_from(rest).unwrap_or_default())),
        _ => Err(format!("\"{text}\" isn't a duration that fits: a duration is {FORM}")),
    }
}

fn nanos_per(unit: &str) -> Option<u128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" | "millis" | "millisecond" | "milliseconds" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "m" | "min" | "mins" | "minute" | "minutes" => 60_000_000_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000_000_000,
        _ => return None,
    })
}

fn read(digits: &str) -> Option<u128> {
    digits.parse().ok()
}

/// `0.fraction` of a unit, in whole nanoseconds.
fn part_of(fraction: &str, nanos_per_unit: u128) -> Option<u128> {
    if fraction.is_empty() {
        return Some(0);
    }
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some(read(fraction)?.checked_mul(nanos_per_unit)? / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        for (text, nanos) in [
            ("50ms", 50_000_000),
            ("50 ms", 50_000_000),
            ("1s", 1_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0.25s", 250_000_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("10us", 10_000),
            ("7ns", 7),
            ("50 minutes", 3_000_000_000_000),
            ("1 second", 1_000_000_000),
            ("0s", 0),
            ("1_000ms", 1_000_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        assert_eq!(parse("18446744073709551615s"), Ok(Duration::from_secs(u64::MAX)));
    }

    #[test]
    fn what_is_no_duration() {
        for text in [
            "",
            " ",
            "50",
            "ms",
            "-1s",
            "+1s",
            "50 parsecs",
            "1.2.3s",
            ".s",
            "1e3s",
            "s1",
            "1s 5ms",
            "٣s",
            "18446744073709551616s",
            "999999999999999999999999999999999999999999s",
            "0.0000000000000000000000000000000000000000001s",
            "∞",
        ] {
            assert!(parse(text).is_err(), "{text:?} gave {:?}", parse(text));
        }
    }
}
