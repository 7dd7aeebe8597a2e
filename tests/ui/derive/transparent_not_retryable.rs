use retry_budget::{Retryable, retry_budget};

struct HttpError;

#[derive(Retryable)]
enum PartnerError {
    #[retry(transparent)]
    Http(HttpError),
    #[retry(transparent)]
    Boxed(Box<HttpError>),
}

#[derive(Retryable)]
#[retry(transparent)]
struct Wrapper<T>(T);

#[retry_budget]
async fn call() -> Result<(), Wrapper<HttpError>> {
    Err(Wrapper(HttpError))
}

fn main() {}
