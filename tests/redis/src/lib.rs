//! A redis-server of the test's own, on a free port of loopback. It ends when it is dropped.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A server that can be stopped, started again, and made to hang.
#[derive(Debug)]
pub struct RedisServer {
    address: SocketAddr,
    options: Vec<String>,
    folder: TempDir,
    process: Option<Child>,
}

impl RedisServer {
    /// Starts one, with these options (`--requirepass secret`).
    ///
    /// # Errors
    ///
    /// When there is no redis-server on this machine, or it doesn't answer within five seconds.
    pub async fn start(options: &[&str]) -> io::Result<Self> {
        let mut server = Self::stopped(options)?;
        server.start_again().await?;
        Ok(server)
    }

    /// One that isn't running yet.
    ///
    /// # Errors
    ///
    /// Without loopback.
    pub fn stopped(options: &[&str]) -> io::Result<Self> {
        // Free a moment ago: nobody else on this machine is likely to take it in between.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let options = options.iter().flat_map(|option| option.split(' ')).map(str::to_owned).collect();
        Ok(Self { address, options, folder: TempDir::new()?, process: None })
    }

    /// Starts it on its port, without any data.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn start_again(&mut self) -> io::Result<()> {
        let process = Command::new("redis-server")
            .args(["--port", &self.address.port().to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(self.folder.path())
            .args(&self.options)
            .stdout(Stdio::null())
            .spawn()?;
        self.process = Some(process);
        for _ in 0..500 {
            if tokio::net::TcpStream::connect(self.address).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "redis-server doesn't come up"))
    }

    /// Ends it without a goodbye.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended by itself.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Stops it in mid-air: connections stay open and nothing is answered.
    ///
    /// # Errors
    ///
    /// When it isn't running.
    pub fn hang(&self) -> io::Result<()> {
        let process = self.process.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let stopped = Command::new("kill").args(["-STOP", &process.id().to_string()]).status()?;
        if stopped.success() { Ok(()) } else { Err(io::Error::other("kill -STOP failed")) }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("redis://{}/", self.address)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}
