//! Functions as real services have them.

use crate::{Flaky, Lost, PLENTY};
use retry_budget::{Exhausted, Retryable, TokenBudget, Verdict, retry_budget};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{Debug, Display};
use std::future::{Ready, ready};
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::ops::{ControlFlow, Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, LazyLock, Mutex, RwLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

const fn sent<F: Future + Send>(future: F) -> F {
    future
}

const fn flaky() -> Flaky {
    Flaky::succeeds_at(3)
}

/// An error that borrows.
#[derive(Debug, PartialEq, Eq, Retryable)]
enum ParseError<'t> {
    #[retry(never)]
    Bad(&'t str),
    #[retry(transient)]
    Lost,
}

#[retry_budget(budget = PLENTY)]
async fn error_that_borrows<'t>(partner: &Flaky, text: &'t str) -> Result<u32, ParseError<'t>> {
    partner.run_later().await.map_err(|_| ParseError::Lost)?;
    text.parse().map_err(|_| ParseError::Bad(text))
}

/// A query on a connection, a pool or a transaction, as sqlx has it.
trait Executor<'c>: Send {
    fn fetch<'q: 'c>(self, query: &'q str) -> Pin<Box<dyn Future<Output = Result<u32, Lost>> + Send + 'c>>;
}

impl<'c> Executor<'c> for &'c Flaky {
    fn fetch<'q: 'c>(self, query: &'q str) -> Pin<Box<dyn Future<Output = Result<u32, Lost>> + Send + 'c>> {
        Box::pin(async move { Ok(self.run_later().await? + u32::try_from(query.len()).unwrap()) })
    }
}

impl<'c> Executor<'c> for &'c mut Transaction<'_> {
    fn fetch<'q: 'c>(self, query: &'q str) -> Pin<Box<dyn Future<Output = Result<u32, Lost>> + Send + 'c>> {
        self.statements += 1;
        self.on.fetch(query)
    }
}

struct Transaction<'p> {
    on: &'p Flaky,
    statements: u32,
}

#[retry_budget(budget = PLENTY, clone(executor))]
async fn by_executor<'c, E>(executor: E, query: &'c str) -> Result<u32, Lost>
where
    E: Executor<'c> + Copy + 'c,
{
    executor.fetch(query).await
}

#[retry_budget(budget = PLENTY)]
async fn by_transaction(transaction: &mut Transaction<'_>) -> Result<u32, Lost> {
    let first = transaction.fetch("a").await?;
    Ok(first + transaction.fetch("b").await?)
}

/// Clones itself for each request, as clients of tonic and hyper do.
#[derive(Clone)]
struct Grpc<C, I = ()> {
    channel: C,
    interceptor: PhantomData<I>,
    sent: u32,
}

impl<C, I> Grpc<C, I>
where
    C: Deref<Target = Flaky> + Clone + Send + Sync,
    I: Clone + Send + Sync,
{
    async fn ready(&mut self) -> Result<(), Lost> {
        self.sent += 1;
        tokio::task::yield_now().await;
        Ok(())
    }

    #[retry_budget(budget = PLENTY, clone(request))]
    async fn unary<R>(&mut self, request: R) -> Result<Response<u32>, Lost>
    where
        R: IntoRequest<String> + Clone + Send + Sync,
    {
        self.ready().await?;
        let message = request.into_request();
        let run = self.channel.run_later().await?;
        Ok(Response(run + u32::try_from(message.len()).unwrap()))
    }

    #[retry_budget(budget = PLENTY)]
    async fn list<'s>(&self, ids: impl IntoIterator<Item = &'s str> + Clone + Send) -> Result<Vec<&'s str>, Lost> {
        let mut client = self.clone();
        client.ready().await?;
        self.channel.run_later().await?;
        Ok(ids.clone().into_iter().collect())
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Response<T>(T);

trait IntoRequest<T> {
    fn into_request(self) -> T;
}

impl IntoRequest<Self> for String {
    fn into_request(self) -> Self {
        self
    }
}

/// A stream of pages.
trait Stream {
    type Item;
    fn next(&mut self) -> impl Future<Output = Option<Self::Item>> + Send;
}

struct Pages(std::vec::IntoIter<u32>);

impl Stream for Pages {
    type Item = u32;

    async fn next(&mut self) -> Option<u32> {
        tokio::task::yield_now().await;
        self.0.next()
    }
}

#[retry_budget(budget = PLENTY)]
async fn a_stream(partner: &Flaky) -> Result<impl Stream<Item = u32> + Send + use<>, Lost> {
    let run = partner.run_later().await?;
    Ok(Pages((0..run).collect::<Vec<_>>().into_iter()))
}

#[retry_budget(budget = PLENTY)]
async fn drained<S>(partner: &Flaky, stream: &mut S) -> Result<Vec<S::Item>, Lost>
where
    S: Stream + Unpin + Send + ?Sized,
    S::Item: Send,
{
    let mut items = Vec::new();
    while let Some(item) = stream.next().await {
        items.push(item);
    }
    partner.run_later().await?;
    Ok(items)
}

/// What a handler of a web framework calls.
struct State<S>(S);

struct Json<T>(T);

#[derive(Clone)]
struct App {
    partner: Arc<Flaky>,
    cache: Arc<RwLock<HashMap<String, u32>>>,
    budget: Arc<TokenBudget>,
}

impl App {
    fn new() -> Self {
        Self {
            partner: Arc::new(flaky()),
            cache: Arc::default(),
            budget: Arc::new(TokenBudget::builder("app").build()),
        }
    }
}

#[retry_budget(budget = app.budget)]
async fn handler(State(app): State<App>, Json(body): Json<BTreeMap<String, u32>>) -> Result<Json<u32>, Lost> {
    let cached = app.cache.read().unwrap().get("key").copied();
    if let Some(cached) = cached {
        return Ok(Json(cached));
    }
    let run = app.partner.run_later().await?;
    app.cache.write().unwrap().insert("key".to_owned(), run);
    Ok(Json(run + body.values().sum::<u32>()))
}

#[retry_budget(budget = PLENTY)]
async fn with_permit(partner: &Flaky, permits: &Semaphore) -> Result<u32, Lost> {
    let _permit = permits.acquire().await.map_err(|_| Lost(0))?;
    partner.run_later().await
}

#[retry_budget(budget = PLENTY)]
async fn through_channels(partner: &Arc<Flaky>, requests: &mpsc::Sender<oneshot::Sender<u32>>) -> Result<u32, Lost> {
    let (reply, answer) = oneshot::channel();
    requests.send(reply).await.map_err(|_| Lost(0))?;
    partner.run_later().await?;
    answer.await.map_err(|_| Lost(1))
}

#[retry_budget(budget = PLENTY)]
async fn watched(partner: &Flaky, changes: &mut watch::Receiver<u32>) -> Result<u32, Lost> {
    let seen = *changes.borrow_and_update();
    partner.run_later().await?;
    Ok(seen)
}

#[retry_budget(budget = PLENTY)]
async fn reads<R: AsyncRead + Unpin + Send>(reader: &mut R, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    loop {
        match reader.read(&mut buffer[length..]).await? {
            0 => break Ok(length),
            read => length += read,
        }
    }
}

#[retry_budget(budget = PLENTY, keep(to))]
async fn copies(
    partner: &Flaky,
    from: &mut (impl AsyncRead + Unpin + Send + ?Sized),
    mut to: impl AsyncWrite + Unpin + Send,
) -> io::Result<u64>
where
    Lost: Debug,
{
    let mut to = &mut to;
    let copied = tokio::io::copy(from, &mut to).await?;
    to.flush().await?;
    partner.run_later().await.map_err(|_| io::Error::from(io::ErrorKind::ConnectionReset))?;
    Ok(copied)
}

#[retry_budget(budget = PLENTY)]
async fn paths<P: AsRef<Path> + Send + Sync>(partner: &Flaky, path: P, other: &PathBuf) -> Result<PathBuf, Lost> {
    partner.run_later().await?;
    Ok(path.as_ref().join(other))
}

#[retry_budget(budget = PLENTY)]
async fn parsed<T>(partner: &Flaky, text: &str) -> Result<T, ServiceError>
where
    T: FromStr<Err: Display>,
{
    partner.run_later().await?;
    text.parse::<T>().map_err(|error| ServiceError::Parse(error.to_string()))
}

#[derive(Debug, thiserror::Error, Retryable)]
enum ServiceError {
    #[error("lost")]
    #[retry(transient)]
    Lost(#[from] Lost),
    #[error("parse: {0}")]
    #[retry(never)]
    Parse(String),
    #[error("{0}")]
    #[retry(exhausted)]
    GaveUp(Box<Exhausted<Self>>),
}

/// A builder that is consumed and given back.
#[derive(Clone, Default)]
struct Builder {
    headers: Vec<(Cow<'static, str>, String)>,
}

impl Builder {
    fn header(mut self, name: impl Into<Cow<'static, str>>, value: u32) -> Self {
        self.headers.push((name.into(), value.to_string()));
        self
    }

    #[retry_budget(budget = PLENTY)]
    async fn send(self, partner: &Flaky) -> Result<usize, Lost> {
        let request = self.clone().header("n", 1);
        partner.run_later().await?;
        Ok(request.headers.len())
    }

    #[retry_budget(budget = PLENTY)]
    async fn send_chained(&mut self, partner: &Flaky) -> Result<usize, Lost> {
        let headers = std::mem::take(&mut self.headers);
        partner.run_later().await?;
        Ok(headers.len())
    }

    #[retry_budget(budget = PLENTY, keep(self))]
    async fn open(mut self: Box<Self>, partner: &Flaky) -> Result<Vec<(Cow<'static, str>, String)>, Lost> {
        self.headers.push(("a".into(), "b".into()));
        partner.run_later().await?;
        Ok(std::mem::take(&mut self.headers))
    }
}

/// A connection that is opened anew where it is broken.
struct Connection {
    stream: Option<u32>,
    partner: Flaky,
}

impl Connection {
    #[retry_budget(budget = PLENTY)]
    async fn command(&mut self, command: &str) -> Result<String, Lost> {
        let stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.partner.run_later().await?,
        };
        let this = &mut *self;
        let answer = format!("{command}{stream}");
        this.stream = Some(stream);
        Ok(answer)
    }

    #[retry_budget(budget = PLENTY)]
    async fn pipeline<const N: usize>(&mut self, commands: [&str; N]) -> Result<[String; N], Lost> {
        let mut answers = std::array::from_fn(|_| String::new());
        for (answer, command) in answers.iter_mut().zip(commands) {
            *answer = self.command(command).await?;
        }
        Ok(answers)
    }
}

impl Deref for Connection {
    type Target = Flaky;
    fn deref(&self) -> &Flaky {
        &self.partner
    }
}

impl DerefMut for Connection {
    fn deref_mut(&mut self) -> &mut Flaky {
        &mut self.partner
    }
}

#[retry_budget(budget = PLENTY)]
async fn locked(connection: &tokio::sync::Mutex<Connection>) -> Result<u32, Lost> {
    let mut guard = connection.lock().await;
    guard.stream = None;
    let Connection { partner, stream } = &mut *guard;
    let run = partner.run_later().await?;
    *stream = Some(run);
    drop(guard);
    Ok(run)
}

/// A service of tower.
trait Service<Request> {
    type Response;
    type Error;
    type Future: Future<Output = Result<Self::Response, Self::Error>>;
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>>;
    fn call(&mut self, request: Request) -> Self::Future;
}

impl Service<u32> for Flaky {
    type Response = u32;
    type Error = Lost;
    type Future = Ready<Result<u32, Lost>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: u32) -> Self::Future {
        ready(self.run().map(|run| run + request))
    }
}

#[retry_budget(budget = PLENTY, clone(request))]
async fn oneshot_of<S, R>(service: &mut S, request: R) -> Result<S::Response, S::Error>
where
    S: Service<R, Error: Retryable>,
    R: Clone,
{
    std::future::poll_fn(|context| service.poll_ready(context)).await?;
    service.call(request).await
}

#[retry_budget(budget = PLENTY)]
async fn control_flow(partner: &Flaky, items: &[u32]) -> Result<Option<u32>, Lost> {
    let found =
        items.iter().try_for_each(|item| if *item > 2 { ControlFlow::Break(*item) } else { ControlFlow::Continue(()) });
    partner.run_later().await?;
    Ok(match found {
        ControlFlow::Break(item) => Some(item),
        ControlFlow::Continue(()) => None,
    })
}

#[retry_budget(budget = PLENTY)]
async fn callbacks(partner: &Flaky, on_done: Option<&(dyn Fn(u32) + Sync)>, log: &Mutex<Vec<u32>>) -> Result<(), Lost> {
    let run = partner.run_later().await?;
    if let Some(on_done) = on_done {
        on_done(run);
    }
    log.lock().unwrap().push(run);
    Ok(())
}

#[retry_budget(budget = PLENTY, policy = policy, deadline = within)]
async fn configured(
    partner: &Flaky,
    policy: &retry_budget::RetryPolicy,
    within: Duration,
) -> Result<u32, ElapsedOr<Lost>> {
    partner.run_later().await.map_err(ElapsedOr::Other)
}

#[derive(Debug, PartialEq, Eq)]
enum ElapsedOr<E> {
    Elapsed,
    Other(E),
}

impl<E> From<retry_budget::Elapsed> for ElapsedOr<E> {
    fn from(_: retry_budget::Elapsed) -> Self {
        Self::Elapsed
    }
}

impl<E: Retryable> Retryable for ElapsedOr<E> {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Elapsed => Verdict::TRANSIENT,
            Self::Other(error) => error.verdict(),
        }
    }
}

static BY_HOST: LazyLock<HashMap<&'static str, Arc<TokenBudget>>> =
    LazyLock::new(|| HashMap::from([("a", Arc::new(TokenBudget::builder("a").capacity(14).build()))]));

#[retry_budget(budget = BY_HOST[host])]
async fn by_host(partner: &Flaky, host: &str) -> Result<u32, Lost> {
    partner.run_later().await
}

#[retry_budget(budget = PLENTY)]
async fn addresses(partner: &Flaky, all: &[SocketAddr; 1]) -> Result<SocketAddr, Lost> {
    let [first] = all;
    partner.run_later().await?;
    Ok(*first)
}

#[retry_budget(budget = PLENTY)]
async fn unit(partner: &Flaky) -> Result<(), Lost> {
    partner.run_later().await?;
    Ok(())
}

#[retry_budget(budget = PLENTY)]
async fn dynamic(partner: &Flaky) -> Result<Box<dyn Fn(&str) -> usize + Send + Sync>, Lost> {
    let run = partner.run_later().await? as usize;
    Ok(Box::new(move |text| text.len() * run))
}

#[tokio::test(start_paused = true)]
async fn databases_and_clients() {
    assert_eq!(sent(error_that_borrows(&flaky(), "7")).await, Ok(7));
    assert_eq!(sent(error_that_borrows(&flaky(), "x")).await, Err(ParseError::Bad("x")));
    assert_eq!(sent(by_executor(&flaky(), "four")).await, Ok(7));
    let partner = flaky();
    let mut transaction = Transaction { on: &partner, statements: 0 };
    assert_eq!(sent(by_transaction(&mut transaction)).await, Ok(9));
    assert_eq!(transaction.statements, 4);
    let mut client: Grpc<_> = Grpc { channel: Arc::new(flaky()), interceptor: PhantomData, sent: 0 };
    assert_eq!(sent(client.unary("four".to_owned())).await, Ok(Response(7)));
    assert_eq!(client.sent, 3);
    assert_eq!(sent(client.list(["a", "b"])).await, Ok(vec!["a", "b"]));
    let mut stream = sent(a_stream(&flaky())).await.unwrap();
    assert_eq!(sent(drained(&Flaky::succeeds_at(1), &mut stream)).await, Ok(vec![0, 1, 2]));
}

#[tokio::test(start_paused = true)]
async fn handlers_and_channels() {
    let app = App::new();
    assert_eq!(sent(handler(State(app.clone()), Json(BTreeMap::new()))).await.unwrap().0, 3);
    assert_eq!(sent(handler(State(app), Json(BTreeMap::new()))).await.unwrap().0, 3);
    let permits = Semaphore::new(1);
    assert_eq!(sent(with_permit(&flaky(), &permits)).await, Ok(3));
    let (requests, mut asked) = mpsc::channel::<oneshot::Sender<u32>>(1);
    let server = tokio::spawn(async move {
        while let Some(reply) = asked.recv().await {
            let _ = reply.send(5);
        }
    });
    assert_eq!(sent(through_channels(&Arc::new(flaky()), &requests)).await, Ok(5));
    drop(requests);
    server.await.unwrap();
    let (_sender, mut receiver) = watch::channel(8);
    assert_eq!(sent(watched(&flaky(), &mut receiver)).await, Ok(8));
    let mut buffer = [0; 8];
    assert_eq!(sent(reads(&mut &b"bytes"[..], &mut buffer)).await.unwrap(), 5);
    let mut out = Vec::new();
    assert_eq!(sent(copies(&Flaky::succeeds_at(1), &mut &b"bytes"[..], &mut out)).await.unwrap(), 5);
    assert_eq!(out, b"bytes");
}

#[tokio::test(start_paused = true)]
async fn builders_and_connections() {
    assert_eq!(sent(paths(&flaky(), "a", &PathBuf::from("b"))).await, Ok(PathBuf::from("a/b")));
    assert_eq!(sent(parsed::<u8>(&flaky(), "8")).await.unwrap(), 8);
    assert!(matches!(sent(parsed::<u8>(&flaky(), "x")).await, Err(ServiceError::Parse(_))));
    assert!(matches!(sent(parsed::<u8>(&Flaky::succeeds_at(9), "8")).await, Err(ServiceError::GaveUp(_))));
    assert_eq!(sent(Builder::default().send(&flaky())).await, Ok(1));
    assert_eq!(sent(Builder::default().send_chained(&flaky())).await, Ok(0));
    assert_eq!(sent(Box::new(Builder::default()).open(&flaky())).await.unwrap().len(), 3);
    let mut connection = Connection { stream: None, partner: flaky() };
    assert_eq!(sent(connection.command("c")).await, Ok("c3".to_owned()));
    assert_eq!(sent(connection.pipeline(["a", "b"])).await, Ok(["a3".to_owned(), "b3".to_owned()]));
    connection.partner = flaky();
    assert_eq!(sent(locked(&tokio::sync::Mutex::new(connection))).await, Ok(3));
    assert_eq!(sent(oneshot_of(&mut flaky(), 4)).await, Ok(7));
}

#[tokio::test(start_paused = true)]
async fn settings_and_results() {
    assert_eq!(sent(control_flow(&flaky(), &[1, 3])).await, Ok(Some(3)));
    let log = Mutex::default();
    assert_eq!(sent(callbacks(&flaky(), Some(&|run| assert_eq!(run, 3)), &log)).await, Ok(()));
    assert_eq!(log.into_inner().unwrap(), [3]);
    let policy = retry_budget::RetryPolicy::BACKGROUND;
    assert_eq!(sent(configured(&flaky(), &policy, Duration::from_secs(99))).await, Ok(3));
    assert_eq!(sent(by_host(&flaky(), "a")).await, Err(Lost(2)));
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    assert_eq!(sent(addresses(&flaky(), &[address])).await, Ok(address));
    assert_eq!(sent(unit(&flaky())).await, Ok(()));
    assert_eq!(sent(dynamic(&flaky())).await.unwrap()("ab"), 6);
}
