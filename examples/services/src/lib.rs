//! Each example is a file in `examples/`. Here is what several of them need.

use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Asks a server on loopback, as `curl -X <method> <address><path> -d <body>` would: the status and the body of the answer.
///
/// # Errors
///
/// When there is no answer, or it isn't HTTP.
pub async fn ask(server: SocketAddr, method: &str, path: &str, body: &str) -> io::Result<(u16, String)> {
    let mut connection = TcpStream::connect(server).await?;
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.0\r\nHost: {server}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    connection.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or(io::ErrorKind::InvalidData)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
    Ok((status, body.to_owned()))
}
