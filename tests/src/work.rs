//! An extension whose tools work on files as they are told, and that sees who works at once.

use std::fs;
use std::sync::{Mutex, PoisonError};

use portcullis_model::call::Claims;
use portcullis_model::extension::{
    Answer, Content, Extension, ExtensionError, ToolEntry, ToolProvider, ToolResult,
};
use serde_json::Value;
use tokio::sync::{Barrier, Semaphore};

use crate::extension::tool;

/// An extension with the tools `work` and `other`, and with `write`, `edit` and `read`, which
/// agents have as well.
///
/// Each does what its arguments say: it gives way `steps` times, waits at the barrier (`meets`)
/// or for a permission to end (`waits`), appends `line` to the file `file_path` in two halves,
/// makes `link` lead to `to`, and `fails`. Of `work` and `other` the argument `claims` is what
/// they claim.
#[derive(Debug)]
pub struct Work {
    barrier: Barrier,
    /// Lets calls that wait end.
    pub ends: Semaphore,
    /// Has a permission for each call that has begun.
    pub begun: Semaphore,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    running: Vec<String>,
    /// Who began while these ran.
    began: Vec<(String, Vec<String>)>,
    ended: Vec<String>,
}

impl Work {
    /// Its barrier opens for so many calls at once.
    #[must_use]
    pub fn new(meet: usize) -> Self {
        Self {
            barrier: Barrier::new(meet),
            ends: Semaphore::new(0),
            begun: Semaphore::new(0),
            log: Mutex::default(),
        }
    }

    /// Each call by its `name`, in the order in which they began, with those that ran then.
    pub fn began(&self) -> Vec<(String, Vec<String>)> {
        self.log().began.clone()
    }

    /// The calls in the order in which they ended.
    pub fn ended(&self) -> Vec<String> {
        self.log().ended.clone()
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn does(&self, arguments: &Value) -> Result<String, String> {
        for _ in 0..arguments.get("steps").and_then(Value::as_u64).unwrap_or_default() {
            tokio::task::yield_now().await;
        }
        if arguments.get("meets").is_some() {
            self.barrier.wait().await;
        }
        if arguments.get("waits").is_some() {
            self.ends.acquire().await.map_err(|error| error.to_string())?.forget();
        }
        let text = |key| arguments.get(key).and_then(Value::as_str);
        if let (Some(path), Some(line)) = (text("file_path"), text("line")) {
            let before = fs::read_to_string(path).unwrap_or_default();
            tokio::task::yield_now().await;
            fs::write(path, format!("{before}{line}\n")).map_err(|error| error.to_string())?;
        }
        #[cfg(unix)]
        if let (Some(link), Some(to)) = (text("link"), text("to")) {
            std::os::unix::fs::symlink(to, link).map_err(|error| error.to_string())?;
        }
        match text("fails") {
            Some(why) => Err(why.to_owned()),
            None => Ok(text("name").unwrap_or_default().to_owned()),
        }
    }
}

/// In the log from the beginning of a call to its end, whichever that is.
struct Running<'a>(&'a Work, String);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut log = self.0.log();
        if let Some(at) = log.running.iter().position(|own| *own == self.1) {
            log.running.remove(at);
        }
        log.ended.push(self.1.clone());
    }
}

impl Extension for Work {
    fn name(&self) -> &str {
        "work"
    }

    fn tools(&self) -> Option<&dyn ToolProvider> {
        Some(self)
    }
}

impl ToolProvider for Work {
    fn list(&self) -> Answer<'_, Vec<ToolEntry>> {
        Box::pin(async { Ok(["work", "other", "write", "edit", "read"].map(tool).into()) })
    }

    fn claims(&self, _: &str, arguments: &Value) -> Option<Claims> {
        let claims = arguments.get("claims")?;
        assert!(claims.is_object(), "it is told to panic");
        let flag = |key| claims.get(key) == Some(&Value::Bool(true));
        let paths = claims.get("paths").and_then(Value::as_array).into_iter().flatten();
        Some(Claims {
            exclusive: flag("exclusive"),
            read_only: flag("read_only"),
            paths: paths.filter_map(|path| path.as_str().map(str::to_owned)).collect(),
        })
    }

    fn call<'a>(&'a self, _: &'a str, arguments: &'a Value) -> Answer<'a, ToolResult> {
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        Box::pin(async move {
            {
                let mut log = self.log();
                let running = log.running.clone();
                log.began.push((name.clone(), running));
                log.running.push(name.clone());
            }
            let _running = Running(self, name);
            self.begun.add_permits(1);
            match self.does(arguments).await {
                Ok(text) => Ok(ToolResult { content: Content::Text(text), is_error: false }),
                Err(reason) => Err(ExtensionError::Answer { extension: "work".to_owned(), reason }),
            }
        })
    }
}
