//! What a real server, and one that is no Redis, make of a command.

use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, AsyncConnectionConfig, Client, RedisError, RedisResult, Script, cmd};
use retry_budget::{Retryable, UNLIMITED, Verdict, retry_budget};
use retry_budget_redis_tests::RedisServer;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

async fn connect(url: &str) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_millis(300)));
    Client::open(url)?.get_multiplexed_async_connection_with_config(&config).await
}

async fn set(url: &str) -> RedisResult<()> {
    connect(url).await?.set("bikes", 7).await
}

fn verdict<T>(result: RedisResult<T>) -> Verdict {
    match result {
        Ok(_) => panic!("it failed"),
        Err(error) => error.verdict(),
    }
}

#[tokio::test]
async fn nobody_there() {
    let server = RedisServer::stopped(&[]).unwrap();
    assert_eq!(verdict(set(&server.url()).await), Verdict::TRANSIENT.not_sent());
}

#[tokio::test]
async fn a_server_that_dies_and_comes_back() {
    static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

    // a connection for each attempt, since a broken one stays broken
    #[retry_budget(budget = UNLIMITED, max_attempts = 20, base_delay = "50ms", jitter = "none")]
    async fn bikes(url: &str, kept: &mut Option<MultiplexedConnection>) -> RedisResult<u32> {
        ATTEMPTS.fetch_add(1, SeqCst);
        let mut connection = match kept.take() {
            Some(connection) => connection,
            None => connect(url).await?,
        };
        let bikes: Option<u32> = connection.get("bikes").await?;
        Ok(bikes.unwrap_or_default())
    }

    let mut server = RedisServer::start(&[]).await.unwrap();
    let url = server.url();
    set(&url).await.unwrap();
    let mut kept = Some(connect(&url).await.unwrap());
    server.kill();
    let (bikes, started) = tokio::join!(bikes(&url, &mut kept), async {
        tokio::time::sleep(Duration::from_millis(120)).await;
        server.start_again().await
    });
    started.unwrap();
    assert_eq!(bikes.unwrap(), 0, "it came back without its data");
    // the broken connection, nobody there at least once, and the one that succeeded
    assert!(ATTEMPTS.load(SeqCst) >= 3);
}

#[tokio::test]
async fn a_server_that_hangs() {
    let server = RedisServer::start(&[]).await.unwrap();
    let mut connection = connect(&server.url()).await.unwrap();
    server.hang().unwrap();
    let error = connection.get::<_, Option<u32>>("bikes").await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(error.verdict(), Verdict::TRANSIENT);
}

#[tokio::test]
async fn a_replica() {
    // of a master that isn't there
    let options = ["--replicaof", "127.0.0.1 1"];
    let replica = RedisServer::start(&options).await.unwrap();
    assert_eq!(verdict(set(&replica.url()).await), Verdict::TRANSIENT.not_sent(), "READONLY");

    let options = [&options[..], &["--replica-serve-stale-data", "no"]].concat();
    let replica = RedisServer::start(&options).await.unwrap();
    let mut connection = connect(&replica.url()).await.unwrap();
    let error = connection.get::<_, Option<u32>>("bikes").await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::TRANSIENT, "MASTERDOWN: {error}");
}

#[tokio::test]
async fn what_would_fail_again() {
    let server = RedisServer::start(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]).await.unwrap();
    let mut connection = connect(&server.url()).await.unwrap();
    assert_eq!(verdict(connection.set::<_, _, ()>("bikes", 7).await), Verdict::NEVER, "OOM");

    let server =
        RedisServer::start(&["--user", "reader on >pw ~* +get +client", "--user", "default on nopass ~* +@all"]);
    let server = server.await.unwrap();
    let mut connection = connect(&server.url()).await.unwrap();
    connection.set::<_, _, ()>("bikes", "seven").await.unwrap();
    assert_eq!(verdict(connection.incr::<_, _, u32>("bikes", 1).await), Verdict::NEVER, "no number");
    assert_eq!(verdict(connection.lpush::<_, _, u32>("bikes", 1).await), Verdict::NEVER, "WRONGTYPE");
    assert_eq!(verdict(connection.get::<_, u32>("bikes").await), Verdict::NEVER, "a type of ours");
    let unknown = cmd("EVALSHA").arg("0".repeat(40)).arg(0).exec_async(&mut connection).await;
    assert_eq!(verdict(unknown), Verdict::NEVER, "NOSCRIPT");
    let fails = Script::new("return redis.error_reply('no')").invoke_async::<_, ()>(&mut connection).await;
    assert_eq!(verdict(fails), Verdict::NEVER, "a script's error");

    let url = server.url();
    let reader = url.replace("redis://", "redis://reader:pw@");
    let mut connection = connect(&reader).await.unwrap();
    assert_eq!(verdict(connection.set::<_, _, ()>("bikes", 7).await), Verdict::NEVER, "NOPERM");
    let wrong = url.replace("redis://", "redis://reader:wrong@");
    assert_eq!(verdict(connect(&wrong).await.map(drop)), Verdict::NEVER, "a wrong password");
}

/// A server that answers every connection with these bytes and closes it.
async fn answers(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _asked = connection.read(&mut [0; 512]).await;
                let _answered = connection.write_all(bytes).await;
            });
        }
    });
    format!("redis://{address}/")
}

#[tokio::test]
async fn a_server_that_is_no_redis() {
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\x00\xff\x01\r\n"] {
        let error: RedisError = set(&answers(bytes).await).await.unwrap_err();
        assert_eq!(error.verdict(), Verdict::NEVER, "{bytes:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_connection_that_is_closed() {
    let error = set(&answers(b"").await).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::TRANSIENT, "{error:?}");
    // in the middle of a value it looks like one that can't be read, see above
    let error = set(&answers(b"$10\r\nfour").await).await.unwrap_err();
    assert_eq!(error.verdict(), Verdict::NEVER, "{error:?}");
}
