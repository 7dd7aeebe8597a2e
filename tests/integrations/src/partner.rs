//! An HTTP partner whose every byte is scripted: it closes in mid-body, sends garbage, or never answers.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// What the partner does with a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Sends these bytes and closes the connection.
    Bytes(Vec<u8>),
    /// Sends these bytes, and then nothing, with the connection open.
    ThenSilence(Vec<u8>),
}

impl Answer {
    /// An answer with this status, these header lines (each with its `\r\n`), and a body.
    pub fn new(status: u16, headers: &str, body: &str) -> Self {
        Self::Bytes(
            format!(
                "HTTP/1.1 {status} As Scripted\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            )
            .into_bytes(),
        )
    }

    /// An answer with this status and no more.
    pub fn status(status: u16) -> Self {
        Self::new(status, "", "")
    }

    /// Takes the request and never answers.
    pub const fn never() -> Self {
        Self::ThenSilence(Vec::new())
    }

    /// Takes the request and closes the connection.
    pub const fn hangs_up() -> Self {
        Self::Bytes(Vec::new())
    }

    /// Promises ten bytes, sends four, and closes the connection.
    pub fn cut_off() -> Self {
        Self::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfour".to_vec())
    }

    /// Bytes that are no HTTP.
    pub fn garbage() -> Self {
        Self::Bytes(b"\x00\xff\x01 what is HTTP?\r\n\r\n".to_vec())
    }
}

/// A server on loopback. It ends when it is dropped.
#[derive(Debug)]
pub struct Partner {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    server: JoinHandle<()>,
}

impl Partner {
    /// Answers the first request with the first answer and so on; all that come after the last are answered like it.
    ///
    /// # Errors
    ///
    /// When there is no port to listen at.
    pub async fn start(script: impl IntoIterator<Item = Answer>) -> io::Result<Self> {
        let script: Vec<Answer> = script.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&requests);
        let server = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                connections.spawn(serve(connection, script.clone(), Arc::clone(&seen)));
            }
        });
        Ok(Self { address, requests, server })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:port/bikes`
    pub fn url(&self) -> String {
        format!("http://{}/bikes", self.address)
    }

    /// The requests it has got, as they came.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// An address at which nobody listens.
///
/// # Errors
///
/// When there is no port that could be free.
pub async fn nobody() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0").await?.local_addr()
}

async fn serve(mut connection: TcpStream, script: Vec<Answer>, seen: Arc<Mutex<Vec<String>>>) -> io::Result<()> {
    let Some(request) = read(&mut connection).await? else { return Ok(()) };
    let number = {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(request);
        seen.len()
    };
    match script.get(number - 1).or(script.last()) {
        None => Ok(()),
        Some(Answer::Bytes(bytes)) => {
            connection.write_all(bytes).await?;
            connection.shutdown().await
        }
        Some(Answer::ThenSilence(bytes)) => {
            connection.write_all(bytes).await?;
            std::future::pending().await
        }
    }
}

/// A request with its body, by its content-length; `None` if the connection ends before that.
async fn read(connection: &mut TcpStream) -> io::Result<Option<String>> {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .and_then(|(_, value)| value.trim().parse().ok())
                .unwrap_or(0);
            if body.len() >= length {
                return Ok(Some(text.into_owned()));
            }
        }
        let mut bytes = [0; 1024];
        match connection.read(&mut bytes).await? {
            0 => return Ok(None),
            count => request.extend_from_slice(&bytes[..count]),
        }
    }
}
