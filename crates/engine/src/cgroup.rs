//! The limits of the control group this process is in, and of those around it: versions 1 and 2.
//!
//! A group's own files are where `/proc/self/cgroup` and `/proc/self/mountinfo` say, which is the root of the hierarchy
//! only within a container of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The groups whose limits apply, innermost first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cgroup {
    cpu: Hierarchy,
    memory: Hierarchy,
}

/// The groups of one controller.
#[derive(Debug, Clone, Default)]
struct Hierarchy {
    folders: Vec<PathBuf>,
    is_v1: bool,
}

impl Cgroup {
    /// The groups of this process, as they were when it first asked.
    pub(crate) fn of_process() -> &'static Self {
        static OWN: OnceLock<Cgroup> = OnceLock::new();
        OWN.get_or_init(|| {
            let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
            Self::find(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
        })
    }

    fn find(groups: &str, mounts: &str) -> Self {
        Self { cpu: Hierarchy::find("cpu", groups, mounts), memory: Hierarchy::find("memory", groups, mounts) }
    }

    /// CPU time the quota grants, in cores.
    pub(crate) fn cores(&self) -> Option<f64> {
        self.cpu.folders.iter().filter_map(|folder| self.cpu.cores(folder)).min_by(f64::total_cmp)
    }

    /// Microseconds that threads of the group have waited for quota, in the group that waited longest.
    pub(crate) fn throttled_usec(&self) -> u64 {
        let (name, per_usec) = if self.cpu.is_v1 { ("throttled_time", 1_000) } else { ("throttled_usec", 1) };
        let throttled = |folder: &PathBuf| -> Option<u64> {
            let text = fs::read_to_string(folder.join("cpu.stat")).ok()?;
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())?;
            Some(value / per_usec)
        };
        self.cpu.folders.iter().filter_map(throttled).max().unwrap_or(0)
    }

    /// Periods in which the quota was used up, and all of them, in the group where that happened most.
    pub(crate) fn throttled_periods(&self) -> Option<(u64, u64)> {
        let periods = |folder: &PathBuf| -> Option<(u64, u64)> {
            let text = fs::read_to_string(folder.join("cpu.stat")).ok()?;
            let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
            value("nr_throttled").zip(value("nr_periods"))
        };
        self.cpu.folders.iter().filter_map(periods).max()
    }

    /// Bytes of memory the group may use.
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let name = if self.memory.is_v1 { "memory.limit_in_bytes" } else { "memory.max" };
        self.memory.folders.iter().filter_map(|folder| number(&folder.join(name))).min()
    }
}

impl Hierarchy {
    /// `groups` is `/proc/self/cgroup`, `mounts` is `/proc/self/mountinfo`.
    fn find(controller: &str, groups: &str, mounts: &str) -> Self {
        // 4:cpu,cpuacct:/user.slice
        let group = |wanted: &dyn Fn(&str) -> bool| {
            groups.lines().find_map(|line| {
                let (_, rest) = line.split_once(':')?;
                let (controllers, path) = rest.split_once(':')?;
                wanted(controllers).then(|| path.to_owned())
            })
        };
        let has = |list: &str| list.split(',').any(|one| one == controller);
        let v1 = group(&has).and_then(|path| folders(&path, &mount(mounts, "cgroup", &has)?));
        if let Some(folders) = v1 {
            return Self { folders, is_v1: true };
        }
        let v2 = group(&|controllers| controllers.is_empty())
            .and_then(|path| folders(&path, &mount(mounts, "cgroup2", &|_| true)?));
        Self { folders: v2.unwrap_or_default(), is_v1: false }
    }

    fn cores(&self, folder: &Path) -> Option<f64> {
        if self.is_v1 {
            // -1 means no quota.
            let quota = number(&folder.join("cpu.cfs_quota_us"))?;
            let period = number(&folder.join("cpu.cfs_period_us")).filter(|period| *period > 0)?;
            return Some(quota as f64 / period as f64);
        }
        let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
        let (quota, period) = text.trim().split_once(' ')?;
        let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
        (period > 0.0).then_some(quota / period)
    }
}

/// Where a hierarchy is mounted, and which of its groups is seen there.
struct Mount {
    point: PathBuf,
    root: PathBuf,
}

/// `32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu`: the fourth field is the root, the fifth the
/// point, what follows the dash is type, source and options.
fn mount(mounts: &str, kind: &str, wanted: &dyn Fn(&str) -> bool) -> Option<Mount> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let mut fields = after.split(' ');
        let (found, options) = (fields.next()?, fields.nth(1)?);
        (found == kind && wanted(options)).then(|| Mount { point: point.into(), root: root.into() })
    })
}

/// The group's folder and those above it, up to the mount point.
fn folders(group: &str, mount: &Mount) -> Option<Vec<PathBuf>> {
    // Where the group is not below the mounted one (a container without a namespace), the mounted one is all there is.
    let below = Path::new(group).strip_prefix(&mount.root).unwrap_or_else(|_| Path::new(""));
    let is_root = below.as_os_str().is_empty();
    let folder = if is_root { mount.point.clone() } else { mount.point.join(below) };
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(&mount.point));
    Some(folders.map(Path::to_owned).collect())
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_where_they_are_mounted() {
        let check = |groups: &str, mounts: &str, is_v1: bool, expect: &[&str]| {
            let found = Hierarchy::find("cpu", groups, mounts);
            let folders: Vec<_> = found.folders.iter().filter_map(|folder| folder.to_str()).collect();
            assert_eq!((found.is_v1, folders.as_slice()), (is_v1, expect), "{groups}");
        };
        let v2 = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let v1 = "32 31 0:29 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n33 31 0:31 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n";
        check(
            "0::/user.slice/session-1.scope\n",
            v2,
            false,
            &["/sys/fs/cgroup/user.slice/session-1.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"],
        );
        check("0::/\n", v2, false, &["/sys/fs/cgroup"]);
        check("3:cpuset:/\n4:cpu,cpuacct:/a\n0::/b\n", v1, true, &["/cg/cpu,cpuacct/a", "/cg/cpu,cpuacct"]);
        // Docker with version 1 mounts the container's group where the root would be.
        let docker = "32 31 0:29 /docker/1 /cg/cpu rw - cgroup cgroup rw,cpu\n";
        check("1:cpu:/docker/1/inner\n", docker, true, &["/cg/cpu/inner", "/cg/cpu"]);
        check("1:cpu:/elsewhere\n", docker, true, &["/cg/cpu"]);
        check("", "", false, &[]);
    }

    #[test]
    fn the_tightest_limit_counts() {
        let dir = tempfile::tempdir().expect("a directory");
        let inner = dir.path().join("a");
        fs::create_dir(&inner).expect("a directory");
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("a file");
        let mounts = format!("1 1 0:1 / {} rw - cgroup2 none rw\n", dir.path().display());
        let group = Cgroup::find("0::/a\n", &mounts);
        assert_eq!((group.cores(), group.throttled_usec(), group.memory_bytes()), (None, 0, None));
        write("cpu.max", "50000 100000\n");
        write("cpu.stat", "usage_usec 7\nthrottled_usec 12\n");
        write("memory.max", "max\n");
        write("a/cpu.max", "max 100000\n");
        write("a/memory.max", "4096\n");
        assert_eq!((group.cores(), group.throttled_usec(), group.memory_bytes()), (Some(0.5), 12, Some(4096)));
        let mounts = format!("1 1 0:1 / {} rw - cgroup none rw,cpu,memory\n", dir.path().display());
        let group = Cgroup::find("1:cpu,memory:/a\n", &mounts);
        write("cpu.cfs_quota_us", "-1\n");
        write("a/cpu.cfs_quota_us", "150000\n");
        write("a/cpu.cfs_period_us", "100000\n");
        write("a/cpu.stat", "nr_periods 51\nnr_throttled 49\nthrottled_time 3000000\n");
        write("memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!((group.cores(), group.throttled_usec()), (Some(1.5), 3_000));
        assert_eq!(group.memory_bytes(), Some(9_223_372_036_854_771_712));
    }
}
