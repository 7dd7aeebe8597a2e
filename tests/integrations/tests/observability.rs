//! The dashboard and the alert rules of `examples/observability`: they parse, and ask for what is exported.
#![allow(missing_docs)]

use metrics_exporter_prometheus::PrometheusBuilder;
use promql_parser::parser::{self, Expr};
use promql_parser::util::{ExprVisitor, walk_expr};
use retry_budget::{RetryPolicy, TokenBudget, metrics::publish, register, retry_blocking};
use saphyr::{LoadableYamlNode, Yaml};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

const DASHBOARD: &str = include_str!("../../../examples/observability/dashboard.json");
const ALERTS: &str = include_str!("../../../examples/observability/alerts.yaml");

/// The names that a scrape shows after some trouble, each with its labels.
fn exported() -> BTreeMap<String, BTreeSet<String>> {
    static BUDGET: TokenBudget = TokenBudget::builder("observed").capacity(14).build();
    register(&BUDGET);
    let policy = RetryPolicy::builder().base_delay(std::time::Duration::ZERO).build();
    let lost = || io::Error::from(io::ErrorKind::ConnectionReset);
    retry_blocking(&BUDGET, &policy, |_| Err::<(), _>(lost())).unwrap_err();
    let recorder = PrometheusBuilder::new().build_recorder();
    metrics::with_local_recorder(&recorder, publish);
    let mut exported = BTreeMap::new();
    for line in recorder.handle().render().lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, rest) = line.split_once('{').expect(line);
        let (labels, _) = rest.split_once('}').expect(line);
        let labels = labels.split(',').map(|label| label.split_once('=').expect(line).0.to_owned());
        exported.entry(name.to_owned()).or_insert_with(BTreeSet::new).extend(labels);
    }
    exported
}

/// What a query asks for: names of metrics, and labels by which it selects or groups.
#[derive(Default)]
struct Asked {
    names: BTreeSet<String>,
    labels: BTreeSet<String>,
}

impl ExprVisitor for Asked {
    type Error = ();

    fn pre_visit(&mut self, expr: &Expr) -> Result<bool, ()> {
        let selector = match expr {
            Expr::VectorSelector(selector) => Some(selector),
            Expr::MatrixSelector(range) => Some(&range.vs),
            _ => None,
        };
        if let Some(selector) = selector {
            self.names.extend(selector.name.clone());
            self.labels.extend(selector.matchers.matchers.iter().map(|matcher| matcher.name.clone()));
        }
        if let Expr::Aggregate(aggregate) = expr {
            self.labels.extend(aggregate.modifier.iter().flat_map(|by| by.labels().labels.clone()));
        }
        Ok(true)
    }
}

/// The query is `PromQL`, and all that it asks for is there.
fn check(query: &str, exported: &BTreeMap<String, BTreeSet<String>>) -> Asked {
    // Grafana puts a duration in its place.
    let expr =
        parser::parse(&query.replace("$__rate_interval", "1m")).unwrap_or_else(|error| panic!("{query}: {error}"));
    let mut asked = Asked::default();
    walk_expr(&mut asked, &expr).unwrap();
    assert!(!asked.names.is_empty(), "{query}");
    for name in &asked.names {
        let labels = exported.get(name).unwrap_or_else(|| panic!("nobody exports {name}: {query}"));
        // the server adds the job
        let unknown: Vec<_> = asked.labels.iter().filter(|label| *label != "job" && !labels.contains(*label)).collect();
        assert!(unknown.is_empty(), "{name} has no {unknown:?}: {query}");
    }
    asked
}

#[test]
fn the_names_are_those_that_the_module_says() {
    use retry_budget::metrics::{CALLS, CAPACITY, DENIALS, FILL, RETRIES, STOPS};
    let names: BTreeSet<_> = [CALLS, RETRIES, STOPS, DENIALS, FILL, CAPACITY].map(str::to_owned).into();
    assert_eq!(exported().into_keys().collect::<BTreeSet<_>>(), names);
}

#[test]
fn the_dashboard_asks_for_what_there_is() {
    let exported = exported();
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let mut names = BTreeSet::new();
    for panel in panels {
        for target in panel["targets"].as_array().unwrap() {
            names.extend(check(target["expr"].as_str().unwrap(), &exported).names);
        }
    }
    assert_eq!(names, exported.keys().cloned().collect(), "each is shown");
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "Grafana wants an id for each panel");
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        // label_values(metric, label)
        if let Some(query) = variable["query"]["query"].as_str() {
            let inside = query.strip_prefix("label_values(").and_then(|query| query.strip_suffix(')')).expect(query);
            check(inside.rsplit_once(',').expect(query).0, &exported);
        }
    }
}

#[test]
fn the_alerts_ask_for_what_there_is() {
    let exported = exported();
    let alerts = &Yaml::load_from_str(ALERTS).unwrap()[0];
    let mut names = Vec::new();
    for group in alerts["groups"].as_vec().unwrap() {
        for rule in group["rules"].as_vec().unwrap() {
            names.push(rule["alert"].as_str().unwrap().to_owned());
            check(rule["expr"].as_str().unwrap(), &exported);
            assert!(rule["annotations"]["summary"].as_str().is_some_and(|summary| !summary.is_empty()));
            assert!(["info", "warning"].contains(&rule["labels"]["severity"].as_str().unwrap()));
        }
    }
    assert_eq!(names, ["RetryBudgetEmpty", "RetriesHideTrouble", "RetriesSwitchedOff"]);
}

#[test]
#[should_panic(expected = "nobody exports retry_budget_denied_total")]
fn a_name_that_is_not_exported_is_found() {
    check("sum(rate(retry_budget_denied_total[5m]))", &exported());
}

#[test]
#[should_panic(expected = "retry_budget_fill has no [\"call\"]")]
fn a_label_that_is_not_there_is_found() {
    check("sum by (call) (retry_budget_fill)", &exported());
}
