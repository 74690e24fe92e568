//! Limits of the site, and the test that its nodes see a folder.

use std::fs;
use std::path::Path;

use super::SlurmError;
use super::ask::ask;

/// Properties of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// Tasks that an array may have.
    pub(crate) array: usize,
    /// Jobs that may be submitted at once; each task of an array counts.
    pub(crate) jobs: usize,
    /// The names of the nodes' hosts.
    hosts: Vec<String>,
}

/// File systems that other hosts see as well.
const SHARED: [&str; 16] = [
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "ceph",
    "cifs",
    "smb3",
    "pvfs2",
    "panfs",
    "glusterfs",
    "afs",
    "9p",
    "wekafs",
    "gfs2",
    "ocfs2",
];

impl Site {
    /// Requests the limits from Slurm.
    ///
    /// # Errors
    /// If Slurm does not answer.
    pub(crate) fn read() -> Result<Site, SlurmError> {
        let config = ask("scontrol", &["show", "config"])?;
        let nodes = ask("scontrol", &["show", "node", "--oneliner"])?;
        // Only the accounting has the limit of a user, and some sites have none.
        let who = ask("id", &["-un"]).unwrap_or_default();
        let user = format!("user={}", who.trim());
        let limits = ask("sacctmgr", &["-nP", "show", "assoc", &user, "format=MaxSubmit"])
            .unwrap_or_default();
        Ok(Site::of(&config, &limits, &nodes))
    }

    fn of(config: &str, limits: &str, nodes: &str) -> Site {
        let of_key = |wanted: &str| {
            let lines = config.lines().filter_map(|line| line.split_once('='));
            let mut values = lines.filter(|(key, _)| key.trim() == wanted);
            values.find_map(|(_, value)| value.trim().parse::<usize>().ok())
        };
        let submit = limits.lines().filter_map(|line| line.trim().parse::<usize>().ok()).min();
        // Slurm's own defaults.
        let jobs = of_key("MaxJobCount").unwrap_or(10_000);
        let host = |word: &str| word.strip_prefix("NodeHostName=").map(str::to_owned);
        Site {
            array: of_key("MaxArraySize").unwrap_or(1001),
            jobs: submit.map_or(jobs, |submit| submit.min(jobs)),
            hosts: nodes.split_whitespace().filter_map(host).collect(),
        }
    }

    /// Checks that the nodes see a folder: it is on a shared file system, or there is no other
    /// host.
    ///
    /// # Errors
    /// If they do not see it, as far as this host can determine.
    pub(crate) fn check_shared(&self, folder: &Path) -> Result<(), SlurmError> {
        let here = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        if self.is_alone(here.trim()) {
            return Ok(());
        }
        // The folder may not exist yet, so the nearest existing folder above it is used.
        let there = |it: &Path| match it.as_os_str().is_empty() {
            true => fs::canonicalize("."),
            false => fs::canonicalize(it),
        };
        let place = folder.ancestors().find_map(|it| there(it).ok());
        let (Some(place), Ok(mounts)) = (place, fs::read_to_string("/proc/self/mounts")) else {
            return Ok(());
        };
        match mount_of(&place, &mounts) {
            Some((mount, kind)) if !is_shared(kind) => Err(SlurmError::NotShared {
                folder: folder.to_owned(),
                mount: mount.to_owned(),
                kind: kind.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn is_alone(&self, here: &str) -> bool {
        let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        self.hosts.iter().all(|host| host == "localhost" || short(host) == short(here))
    }
}

fn is_shared(kind: &str) -> bool {
    SHARED.contains(&kind) || kind.starts_with("fuse")
}

/// Mount point of a path's file system, and its type.
fn mount_of<'m>(place: &Path, mounts: &'m str) -> Option<(&'m str, &'m str)> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    // With equal mount points, the last one hides those before it.
    mounts.filter(|(mount, _)| place.starts_with(mount)).max_by_key(|(mount, _)| mount.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_from_the_site() {
        let config = "AccountingStorageHost   = localhost\nMaxArraySize            = 501\nMaxJobCount             = 2000\n";
        let nodes = "NodeName=n1 NodeHostName=n1.site OS=Linux\nNodeName=n2 NodeHostName=n2 x\n";
        let site = Site::of(config, "\n1000\n300\n", nodes);
        assert_eq!((site.array, site.jobs), (501, 300));
        assert_eq!(site.hosts, ["n1.site", "n2"]);
        assert_eq!(Site::of(config, "", "").jobs, 2000);
        assert!(!site.is_alone("n1"));
        assert!(Site::of("", "", "NodeHostName=n1.site NodeHostName=localhost").is_alone("n1"));
    }

    #[test]
    fn a_folder_that_other_nodes_do_not_see_is_told_apart() {
        let mounts = "/dev/sda1 / ext4 rw 0 0\nserver:/home /home nfs4 rw 0 0\ntmpfs /home/local tmpfs rw 0 0\n";
        let kind = |place: &str| mount_of(Path::new(place), mounts).expect("there is a root").1;
        assert!(is_shared(kind("/home/me/out")));
        assert!(!is_shared(kind("/home/local/out")));
        assert!(!is_shared(kind("/scratch/out")));
        assert!(is_shared("fuse.sshfs"));
    }
}
