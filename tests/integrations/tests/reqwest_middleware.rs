//! `RetryMiddleware` in a client of `reqwest-middleware`, over real sockets.

use async_trait::async_trait;
use http::{Extensions, Method};
use reqwest_0_13::{Body, Client, Request, Response, StatusCode};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next};
use retry_budget::http_1::AttemptHeaders;
use retry_budget::reqwest_0_13::{FailedAnswer, HttpError, OrRetry};
use retry_budget::reqwest_middleware_0_5::RetryMiddleware;
use retry_budget::{
    Budget, Exhausted, NEVER, RetryPolicy, Retryable, Stop, StopReason, TokenBudget, UNLIMITED, Unlimited, Verdict,
    retry_budget,
};
use retry_budget_integrations::partner::{Answer, Partner, nobody};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// No time between attempts, so that sockets are all there is to wait for.
const AT_ONCE: RetryPolicy =
    RetryPolicy::builder().base_delay(Duration::ZERO).throttling_base_delay(Duration::ZERO).build();

/// Inside of the retries: counts attempts, and fails those that it is told to.
#[derive(Clone, Default)]
struct Inside {
    attempts: Arc<AtomicUsize>,
    fails: Option<fn() -> reqwest_middleware::Error>,
}

#[async_trait]
impl Middleware for Inside {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        self.attempts.fetch_add(1, Ordering::Relaxed);
        match self.fails {
            Some(error) => Err(error()),
            None => next.run(request, extensions).await,
        }
    }
}

impl Inside {
    fn attempts(&self) -> usize {
        self.attempts.swap(0, Ordering::Relaxed)
    }
}

fn client<B: Budget + 'static>(middleware: RetryMiddleware<B>, inside: &Inside) -> ClientWithMiddleware {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().timeout(Duration::from_millis(500)).build().unwrap();
    ClientBuilder::new(client).with(middleware).with(inside.clone()).build()
}

fn retrying() -> (ClientWithMiddleware, Inside) {
    let inside = Inside::default();
    (client(RetryMiddleware::new(UNLIMITED, AT_ONCE), &inside), inside)
}

fn stop(response: &Response) -> &Stop {
    response.extensions().get::<Stop>().unwrap()
}

#[tokio::test]
async fn idempotent_methods_are_retried() {
    let (client, inside) = retrying();
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::TRACE, Method::PUT, Method::DELETE] {
        let partner = Partner::start([503, 502, 204].map(Answer::status)).await.unwrap();
        let response = client.request(method.clone(), partner.url()).send().await.unwrap();
        assert_eq!((response.status(), inside.attempts()), (StatusCode::NO_CONTENT, 3), "{method}");
        assert!(response.extensions().get::<Stop>().is_none());
    }
}

#[tokio::test]
async fn others_only_where_nothing_was_sent() {
    let (client, inside) = retrying();
    for method in [Method::POST, Method::PATCH, Method::from_bytes(b"CHARGE").unwrap()] {
        for answer in [Answer::status(503), Answer::status(429)] {
            let partner = Partner::start([answer]).await.unwrap();
            let response = client.request(method.clone(), partner.url()).send().await.unwrap();
            assert_eq!((stop(&response).reason, inside.attempts()), (StopReason::NotIdempotent, 1), "{method}");
        }
        for answer in [Answer::hangs_up(), Answer::never()] {
            let partner = Partner::start([answer]).await.unwrap();
            client.request(method.clone(), partner.url()).send().await.unwrap_err();
            assert_eq!(inside.attempts(), 1, "{method}");
        }
        let nobody = format!("http://{}", nobody().await.unwrap());
        assert!(client.request(method.clone(), nobody).send().await.unwrap_err().is_connect());
        assert_eq!(inside.attempts(), 3, "{method}");
    }
}

#[tokio::test]
async fn a_key_makes_a_request_idempotent() {
    let (client, inside) = retrying();
    let partner = Partner::start([Answer::status(503)]).await.unwrap();
    client.post(partner.url()).header("idempotency-key", "7").body("9 €").send().await.unwrap();
    assert_eq!(inside.attempts(), 3);
    for request in partner.requests() {
        assert!(request.contains("idempotency-key: 7") && request.ends_with("9 €"), "each is the same: {request}");
    }
}

#[tokio::test]
async fn unless_told() {
    let search = |request: &Request| request.url().path() == "/bikes";
    let inside = Inside::default();
    let client = client(RetryMiddleware::new(UNLIMITED, AT_ONCE).idempotent_if(search), &inside);
    let partner = Partner::start([Answer::status(503)]).await.unwrap();
    client.post(partner.url()).send().await.unwrap();
    assert_eq!(inside.attempts(), 3);
    client.get(partner.url() + "/7").header("idempotency-key", "7").send().await.unwrap();
    assert_eq!(inside.attempts(), 1, "it is told of these, too");
}

#[tokio::test]
async fn a_request_tells_which_attempt_it_is() {
    let told = async |middleware: RetryMiddleware<Unlimited>| {
        let partner = Partner::start([Answer::status(503)]).await.unwrap();
        client(middleware, &Inside::default()).get(partner.url()).send().await.unwrap();
        let header = |line: &&str| line.starts_with("x-") || line.starts_with("grpc-");
        let headers = |request: &String| request.lines().filter(header).map(str::to_owned).collect();
        partner.requests().iter().map(headers).collect::<Vec<Vec<String>>>()
    };
    let middleware = || RetryMiddleware::new(UNLIMITED, AT_ONCE);
    let second = ["x-retry-attempt: 2", "grpc-previous-rpc-attempts: 1"];
    let third = ["x-retry-attempt: 3", "grpc-previous-rpc-attempts: 2"];
    assert_eq!(told(middleware()).await, [&[][..], &second, &third]);
    assert_eq!(told(middleware().attempt_headers(AttemptHeaders::OFF)).await, [[""; 0]; 3]);
}

#[tokio::test]
async fn a_policy_that_is_not_idempotent_holds_for_all_methods() {
    let inside = Inside::default();
    let policy = AT_ONCE.to_builder().idempotent(false).build();
    let client = client(RetryMiddleware::new(UNLIMITED, policy), &inside);
    let partner = Partner::start([Answer::status(503)]).await.unwrap();
    client.get(partner.url()).send().await.unwrap();
    assert_eq!(inside.attempts(), 1);
}

#[tokio::test]
async fn a_body_that_cant_be_cloned_is_sent_once() {
    let (client, inside) = retrying();
    let partner = Partner::start([Answer::status(503)]).await.unwrap();
    let stream = Body::wrap_stream(futures_util::stream::iter([Ok::<_, io::Error>("7 bikes")]));
    let length = ("content-length", "7");
    let response = client.put(partner.url()).header(length.0, length.1).body(stream).send().await.unwrap();
    assert_eq!((response.status(), inside.attempts()), (StatusCode::SERVICE_UNAVAILABLE, 1));
    assert_eq!(stop(&response).reason, StopReason::AttemptsUsedUp);
    assert!(partner.requests()[0].ends_with("7 bikes"));
}

#[tokio::test]
async fn a_loop_that_makes_it_anew_may_send_it_again() {
    #[retry_budget(budget = UNLIMITED, policy = AT_ONCE)]
    async fn park(client: &ClientWithMiddleware, url: &str) -> Result<StatusCode, HttpError> {
        let stream = Body::wrap_stream(futures_util::stream::iter([Ok::<_, io::Error>("7 bikes")]));
        let request = client.put(url).header("content-length", "7").body(stream);
        Ok(request.send().await.or_retry()?.status())
    }
    let (client, inside) = retrying();
    let partner = Partner::start([Answer::status(503), Answer::status(204)]).await.unwrap();
    assert_eq!(park(&client, &partner.url()).await.unwrap(), StatusCode::NO_CONTENT);
    assert_eq!(inside.attempts(), 2);
}

#[tokio::test]
async fn the_last_answer_comes_back_and_says_why() {
    let (client, inside) = retrying();
    let stopped = async |answer| {
        let partner = Partner::start([answer]).await.unwrap();
        let response = client.get(partner.url()).send().await.unwrap();
        let stop = stop(&response).clone();
        assert_eq!(response.text().await.unwrap(), "later");
        (stop.reason, inside.attempts())
    };
    assert_eq!(stopped(Answer::new(503, "", "later")).await, (StopReason::AttemptsUsedUp, 3));
    assert_eq!(stopped(Answer::new(429, "retry-after: 21\r\n", "later")).await, (StopReason::HintTooFar, 1));
    let dont = Answer::new(500, "x-should-retry: false\r\n", "later");
    assert_eq!(stopped(dont).await, (StopReason::GaveUpInside, 1));

    let partner = Partner::start([Answer::status(404)]).await.unwrap();
    let response = client.get(partner.url()).send().await.unwrap();
    assert_eq!((response.status(), inside.attempts()), (StatusCode::NOT_FOUND, 1));
    assert!(response.extensions().get::<Stop>().is_none(), "no retry was wanted");
}

#[tokio::test]
async fn servers_that_misbehave() {
    let (client, inside) = retrying();
    for (answer, attempts) in [(Answer::hangs_up(), 2), (Answer::never(), 2), (Answer::garbage(), 1)] {
        let partner = Partner::start([answer.clone(), Answer::status(200)]).await.unwrap();
        let result = client.get(partner.url()).send().await;
        assert_eq!((result.is_ok(), inside.attempts()), (attempts == 2, attempts), "{answer:?}");
    }
    let partner = Partner::start([Answer::cut_off()]).await.unwrap();
    let response = client.get(partner.url()).send().await.unwrap();
    assert_eq!(response.text().await.unwrap_err().verdict(), Verdict::TRANSIENT, "too late for a middleware");
    assert_eq!(inside.attempts(), 1);
}

#[tokio::test]
async fn any_budget() {
    static SMALL: TokenBudget = TokenBudget::builder("small").capacity(14).build();
    let inside = Inside::default();
    let partner = Partner::start([Answer::status(500)]).await.unwrap();
    let by_reference = client(RetryMiddleware::new(&SMALL, AT_ONCE), &inside);
    for attempts in [2, 1, 1] {
        let response = by_reference.get(partner.url()).send().await.unwrap();
        assert_eq!(inside.attempts(), attempts);
        assert_eq!(stop(&response).reason, StopReason::BudgetEmpty);
        assert_eq!(stop(&response).budget, "small");
    }
    let shared: Arc<dyn Budget> = Arc::new(NEVER);
    client(RetryMiddleware::new(shared, AT_ONCE), &inside).get(partner.url()).send().await.unwrap();
    assert_eq!(inside.attempts(), 1);
}

#[tokio::test]
async fn errors_of_middleware_are_searched() {
    type Fails = fn() -> reqwest_middleware::Error;
    let timed_out: Fails = || reqwest_middleware::Error::Middleware(io::Error::from(io::ErrorKind::TimedOut).into());
    let unknown: Fails = || reqwest_middleware::Error::middleware(std::fmt::Error);
    for (fails, attempts) in [(timed_out, 3), (unknown, 1)] {
        let inside = Inside { fails: Some(fails), ..Inside::default() };
        let client = client(RetryMiddleware::new(UNLIMITED, AT_ONCE), &inside);
        let error = client.get("http://127.0.0.1").send().await.or_retry().unwrap_err();
        assert_eq!(inside.attempts(), attempts);
        assert_eq!(error.verdict(), Verdict::from(attempts == 3));
        assert_eq!(error.to_string(), fails().to_string());
        assert!(error.status().is_none() && error.answer().is_none() && error.client_error().is_none());
    }
    assert_eq!(io::Error::other(timed_out()).verdict(), Verdict::TRANSIENT, "found in other errors");
}

#[retry_budget(budget = UNLIMITED, policy = AT_ONCE)]
async fn bikes(client: &ClientWithMiddleware, url: &str) -> Result<String, HttpError> {
    let response = client.get(url).send().await.or_retry()?;
    Ok(response.text().await?)
}

#[tokio::test]
async fn a_loop_around_it_doesnt_multiply() {
    let (client, inside) = retrying();
    let partner = Partner::start([Answer::status(503)]).await.unwrap();
    let error = bikes(&client, &partner.url()).await.unwrap_err();
    assert_eq!((error.status(), inside.attempts()), (Some(StatusCode::SERVICE_UNAVAILABLE), 3));
    let error = bikes(&client, &format!("http://{}", nobody().await.unwrap())).await.unwrap_err();
    assert_eq!((error.verdict(), inside.attempts()), (Verdict::TRANSIENT.not_sent(), 3));

    let partner = Partner::start([Answer::cut_off(), Answer::new(200, "", "7")]).await.unwrap();
    assert_eq!(bikes(&client, &partner.url()).await.unwrap(), "7", "and sees what a middleware can't");
    assert_eq!(inside.attempts(), 2);
}

#[tokio::test]
async fn a_look_at_the_body() {
    let (client, _) = retrying();
    let partner = Partner::start([Answer::new(404, "", "no such station")]).await.unwrap();
    let asked = client.get(partner.url()).send().await;
    let error = asked.or_retry_by(FailedAnswer::verdict).await.unwrap_err();
    assert_eq!(error.answer().unwrap().text(), "no such station");
}

#[test]
fn a_call_given_up_is_found_in_a_middlewares_error() {
    let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
    let stopped = retry_budget::retry_blocking(NEVER, &AT_ONCE, |_| Err::<(), _>(GivesUp::Io(reset()))).unwrap_err();
    let GivesUp::GaveUp(stopped) = stopped else { panic!("{stopped:?}") };
    let stop = stopped.stop().clone();
    let error = reqwest_middleware::Error::Middleware(stopped.into());
    assert_eq!(error.verdict(), Verdict::NEVER);
    let with_context = reqwest_middleware::Error::Middleware(anyhow::Error::new(reset()).context(stop));
    assert_eq!(with_context.verdict(), Verdict::NEVER);
}

#[derive(Debug, thiserror::Error, Retryable)]
enum GivesUp {
    #[error(transparent)]
    #[retry(transparent)]
    Io(io::Error),
    #[error(transparent)]
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<Self>>),
}
