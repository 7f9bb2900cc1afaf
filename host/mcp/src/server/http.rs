//! Serving any number of clients over HTTP, at one address.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::http::{Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower_service::Service as _;

use super::handler::Handler;
use super::state::State;

/// Where the server is at its address.
pub const PATH: &str = "/mcp";
/// The most bytes of one request.
pub const BODY_MAX: usize = 1 << 20;
/// The most connections at once. More wait.
pub const CONNECTIONS_MAX: usize = 256;
/// How long a client may take for the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long until an answer begins, the request's body included.
const ANSWER_TIME: Duration = Duration::from_secs(60);
/// How long nobody is accepted after the system could not.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Who may ask. By default: anybody on this machine.
#[derive(Clone, Default)]
pub struct HttpSettings {
    /// What every request has to bear; none: nothing.
    pub token: Option<String>,
    /// Whether requests for other hosts than this machine are answered.
    pub allow_remote: bool,
    /// The origins of web pages that may ask, such as `https://app.example:443`, besides
    /// the server's own.
    pub origins: Vec<String>,
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { token, allow_remote, origins } = self;
        let token = token.as_ref().map(|_| "…");
        f.debug_struct("HttpSettings")
            .field("token", &token)
            .field("allow_remote", allow_remote)
            .field("origins", origins)
            .finish()
    }
}

type Mcp = StreamableHttpService<Handler, NeverSessionManager>;
type Answer = Response<BoxBody<Bytes, Infallible>>;

pub(super) async fn serve(
    state: &Arc<State>,
    listener: TcpListener,
    settings: HttpSettings,
) -> io::Result<()> {
    let mcp = service(state, listener.local_addr()?, &settings);
    let token: Option<Arc<str>> = settings.token.map(Into::into);
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return Ok(()) };
        let accepted = tokio::select! {
            () = state.closing.cancelled() => return Ok(()),
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let (mcp, token, state) = (mcp.clone(), token.clone(), Arc::clone(state));
                tokio::spawn(async move {
                    connection(stream, mcp, token, &state).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!("a client cannot be accepted: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn service(state: &Arc<State>, own: SocketAddr, settings: &HttpSettings) -> Mcp {
    let port = own.port();
    let here = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
    // No session is kept, so that a client costs nothing between two requests.
    let mut config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_MAX)
        .with_cancellation_token(state.closing.clone())
        .with_allowed_origins(here.into_iter().chain(settings.origins.iter().cloned()))
        .enforce_origin_validation();
    if settings.allow_remote {
        config = config.disable_allowed_hosts();
    }
    let handler = Handler::new(Arc::clone(state));
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config)
}

async fn connection(stream: TcpStream, mcp: Mcp, token: Option<Arc<str>>, state: &State) {
    let answer = service_fn(move |request| {
        let (mcp, token) = (mcp.clone(), token.clone());
        async move { Ok::<_, Infallible>(answer(request, mcp, token.as_deref()).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    let connection = builder.serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = state.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!("a connection ended: {error}");
    }
}

async fn answer(request: Request<Incoming>, mut mcp: Mcp, token: Option<&str>) -> Answer {
    if request.uri().path() != PATH {
        return bare(StatusCode::NOT_FOUND);
    }
    if token.is_some_and(|token| !bears(&request, token)) {
        let mut answer = bare(StatusCode::UNAUTHORIZED);
        answer.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
        return answer;
    }
    match tokio::time::timeout(ANSWER_TIME, mcp.call(request)).await {
        Ok(Ok(answer)) => answer,
        Err(_) => bare(StatusCode::REQUEST_TIMEOUT),
    }
}

fn bare(status: StatusCode) -> Answer {
    let mut answer = Response::new(Full::default().boxed());
    *answer.status_mut() = status;
    answer
}

/// Takes as long whatever the two have in common.
fn bears(request: &Request<Incoming>, token: &str) -> bool {
    let borne = request.headers().get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes);
    let Some((scheme, borne)) = borne.and_then(|borne| borne.split_at_checked("Bearer ".len())) else {
        return false;
    };
    let differs = borne.iter().zip(token.bytes()).fold(0, |all, (one, other)| all | (one ^ other));
    scheme.eq_ignore_ascii_case(b"Bearer ") && borne.len() == token.len() && differs == 0
}
