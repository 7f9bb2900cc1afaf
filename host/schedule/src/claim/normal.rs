//! From what somebody wrote to patterns in their one spelling.

use super::disk::{Disk, Found};
use super::error::ClaimError;
use super::pattern::{Pattern, Reach};
use super::segment::Segment;

/// How long a pattern may be, in bytes: as long as a path.
pub const PATTERN_BYTES_MAX: usize = 8192;

/// How many names of a path are compared. What is deeper counts as the directory there.
const SEGMENTS_MAX: usize = 128;

/// Where a pattern stands, and who knows the file system there.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// What a relative pattern is below: an absolute path.
    pub cwd: &'a str,
    /// The file system.
    pub disk: &'a dyn Disk,
}

/// A path whose `.` and `..` are gone.
struct Folded {
    segments: Vec<Segment>,
    /// Something behind it was left out, because it may be anything.
    is_cut: bool,
    /// It had a `..`, which leads elsewhere behind a link.
    climbs: bool,
}

impl Place<'_> {
    /// The patterns of one path, as it stands: no character of it is a wildcard. It is
    /// itself and everything below it, and where its links lead.
    ///
    /// # Errors
    /// When it cannot be the path of a file, or nobody can say where it leads.
    pub fn path(&self, text: &str) -> Result<Vec<Pattern>, ClaimError> {
        let absolute = self.absolute(text)?;
        let folded = fold(&absolute, Segment::name, |_| false)?;
        self.seen(&absolute, folded)
    }

    /// The patterns of a text such as `src/**`, where `*` and `?` are wildcards, `**` is
    /// everything below, and what else some tools read as a wildcard may be any name. A
    /// relative one is below the directory.
    ///
    /// # Errors
    /// When it is none.
    pub fn pattern(&self, text: &str) -> Result<Vec<Pattern>, ClaimError> {
        if text.starts_with('!') {
            return Err(ClaimError::Excludes(text.to_owned()));
        }
        if text.starts_with('~') {
            return Err(ClaimError::Home(text.to_owned()));
        }
        let absolute = self.absolute(text)?;
        let folded = fold(&absolute, Segment::pattern, is_any_depth)?;
        self.seen(&absolute, folded)
    }

    fn absolute(&self, text: &str) -> Result<String, ClaimError> {
        if text.trim().is_empty() {
            return Err(ClaimError::Empty);
        }
        if text.len() > PATTERN_BYTES_MAX {
            return Err(ClaimError::TooLong { max: PATTERN_BYTES_MAX });
        }
        if text.contains('\0') {
            return Err(ClaimError::Nul);
        }
        if is_absolute(text) {
            return Ok(text.to_owned());
        }
        if !is_absolute(self.cwd) {
            return Err(ClaimError::Relative(self.cwd.to_owned()));
        }
        Ok(format!("{}/{text}", self.cwd))
    }

    /// What `folded` is as it is written, and what it is with its links followed.
    fn seen(&self, absolute: &str, folded: Folded) -> Result<Vec<Pattern>, ClaimError> {
        let plain = folded.segments.iter().take_while(|segment| !segment.is_glob()).count();
        let (known, rest) = folded.segments.split_at(plain);
        let is_tree = folded.is_cut || !rest.is_empty();
        let written: String = known.iter().map(|segment| format!("/{segment}")).collect();
        let mut looked_at = vec![rooted(&written)];
        if folded.climbs {
            // Behind a link, `..` is not what it looks like.
            let names = absolute.split('/').take_while(|name| !is_wild(name));
            looked_at.push(rooted(&names.collect::<Vec<_>>().join("/")));
        }
        let mut patterns: Vec<Pattern> = Vec::new();
        for path in looked_at {
            let look = self.disk.look(&path).ok_or_else(|| ClaimError::Unknown(path.clone()))?;
            let reach = match look.found {
                _ if is_tree => Reach::Tree,
                Found::Nothing | Found::File => Reach::One,
                Found::Shared(file) => Reach::Shared(file),
                Found::Directory => Reach::Tree,
            };
            let elsewhere = (look.real != path).then(|| fold(&look.real, Segment::name, |_| false));
            let real = elsewhere.transpose()?.map(|real| real.segments);
            for head in std::iter::once(known).chain(real.as_deref()) {
                let mut segments: Vec<Segment> = head.iter().chain(rest).cloned().collect();
                let is_deep = segments.len() > SEGMENTS_MAX;
                segments.truncate(SEGMENTS_MAX);
                let reach = if is_deep { Reach::Tree } else { reach };
                let pattern = Pattern::new(segments, reach, look.folds_case);
                if !patterns.contains(&pattern) {
                    patterns.push(pattern);
                }
            }
        }
        Ok(patterns)
    }
}

/// Takes a path apart by its slashes, and `.` and `..` out of it. `cuts` says of which name
/// on everything may follow.
fn fold(
    absolute: &str,
    segment: impl Fn(&str) -> Segment,
    cuts: impl Fn(&str) -> bool,
) -> Result<Folded, ClaimError> {
    let mut folded = Folded { segments: Vec::new(), is_cut: false, climbs: false };
    for name in absolute.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                folded.climbs = true;
                if folded.is_cut || folded.segments.pop().is_some_and(|last| last.is_glob()) {
                    return Err(ClaimError::Climbs(absolute.to_owned()));
                }
            }
            _ if folded.is_cut => {}
            _ if cuts(name) => folded.is_cut = true,
            _ => folded.segments.push(segment(name)),
        }
    }
    Ok(folded)
}

/// `**`, a choice that goes on behind the slash, or what may be a slash elsewhere: what
/// follows may be at any depth.
fn is_any_depth(name: &str) -> bool {
    let count = |wanted: char| name.chars().filter(|char| *char == wanted).count();
    name.contains("**")
        || name.contains('\\')
        || [('{', '}'), ('(', ')'), ('[', ']')].into_iter().any(|(open, close)| count(open) != count(close))
}

fn is_wild(name: &str) -> bool {
    is_any_depth(name) || Segment::pattern(name).is_glob()
}

fn rooted(path: &str) -> String {
    if path.is_empty() {
        return "/".to_owned();
    }
    // `/C:/x` is no path of Windows.
    match path.strip_prefix('/') {
        Some(drive) if is_drive(drive) => drive.to_owned(),
        _ => path.to_owned(),
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_drive(path)
}

/// `C:/`, as paths of Windows are spelt here, or `C:` alone.
fn is_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|drive| drive.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), None | Some('/'))
}
