//! What a process holds, for tests that must leave nothing behind.

/// What this process holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) descriptors: usize,
    pub(crate) threads: usize,
    pub(crate) resident: usize,
    /// Pieces of its address space.
    pub(crate) maps: usize,
    /// Directories that the file system is asked to tell of.
    pub(crate) watches: usize,
}

impl Usage {
    pub(crate) fn now() -> Self {
        let count = |dir| std::fs::read_dir(dir).unwrap().count();
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        let resident: usize = pages.split_whitespace().nth(1).unwrap().parse().unwrap();
        Self {
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
            resident: resident * rustix::param::page_size(),
            maps: std::fs::read_to_string("/proc/self/maps").unwrap().lines().count(),
            watches: watches(),
        }
    }
}

fn watches() -> usize {
    let all = std::fs::read_dir("/proc/self/fdinfo").unwrap();
    // A descriptor may be closed meanwhile.
    let texts = all.filter_map(|own| std::fs::read_to_string(own.ok()?.path()).ok());
    texts.map(|text| text.lines().filter(|line| line.starts_with("inotify")).count()).sum()
}
