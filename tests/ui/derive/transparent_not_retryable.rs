use retry_budget::Retryable;

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

fn is_retryable<E: Retryable>(_: E) {}

fn main() {
    is_retryable(Wrapper(HttpError));
}
