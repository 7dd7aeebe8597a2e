//! Settings from a file, by the feature `serde`.
#![cfg(feature = "serde")]

use retry_budget::{BudgetSettings, Settings};

fn json(text: &str) -> Result<Settings, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn expected() -> Settings {
    Settings::new()
        .budget("bike partner", BudgetSettings::default().capacity(300).success_refund(2))
        .budget("payments", BudgetSettings::default().ratio(0.2).min_retries(10))
}

#[test]
fn a_map_from_names_to_settings() {
    let text = r#"{
        "payments": { "ratio": 0.2, "min_retries": 10 },
        "bike partner": { "capacity": 300, "success_refund": 2 }
    }"#;
    assert_eq!(json(text), Ok(expected()));
    let text = r#"
        ["bike partner"]
        capacity = 300
        success_refund = 2
        [payments]
        ratio = 0.2
        min_retries = 10
    "#;
    assert_eq!(toml::from_str(text), Ok(expected()));
    assert_eq!(json("{}"), Ok(Settings::new()));
}

#[test]
fn whole_numbers_are_numbers() {
    let text = r#"{ "a": { "ratio": 1, "token_ratio": 2 } }"#;
    let all = BudgetSettings::default().ratio(1.0).token_ratio(2.0);
    assert_eq!(json(text), Ok(Settings::new().budget("a", all.clone())));
    assert_eq!(toml::from_str("[a]\nratio = 1\ntoken_ratio = 2"), Ok(Settings::new().budget("a", all)));
}

#[test]
fn what_is_no_setting_is_refused() {
    for (text, expected) in [
        (r#"{ "a": { "capacty": 300 } }"#, "unknown field `capacty`"),
        (r#"{ "a": { "initial": 300 } }"#, "unknown field `initial`"),
        (r#"{ "a": { "window": "10s" } }"#, "unknown field `window`"),
        (r#"{ "a": { "capacity": -1 } }"#, "expected u32"),
        (r#"{ "a": { "capacity": 0.5 } }"#, "expected u32"),
        (r#"{ "a": { "ratio": "0.1" } }"#, "expected f64"),
        (r#"{ "a": 3 }"#, "expected struct BudgetSettings"),
    ] {
        let error = json(text).expect_err("refused");
        assert!(error.contains(expected), "{error}");
    }
}
