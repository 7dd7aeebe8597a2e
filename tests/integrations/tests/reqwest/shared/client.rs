use super::reqwest::{Client, ClientBuilder};

/// A client of this version. Its TLS library is the same for both, and wants to be told how to encrypt.
pub(crate) fn builder() -> ClientBuilder {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy()
}
