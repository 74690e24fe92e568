//! Damaged dumps: each is imported or refused, and none ends the program.

use std::fs;
use std::path::{Path, PathBuf};

use haggle_import::slurm::{Dump, import};
use proptest::prelude::*;

const FILES: [(&str, &str); 8] = [
    (
        "config.txt",
        "AccountingStorageEnforce = limits\nPriorityType = priority/multifactor\nPriorityWeightAge = 10\nPriorityFlags = NO_FAIR_TREE\nSelectTypeParameters = CR_CORE_MEMORY\nPreemptType = preempt/qos\nPreemptMode = REQUEUE\n",
    ),
    (
        "nodes.txt",
        "NodeName=n1 CPUTot=4 Gres=gpu:a:2(S:0-1),gpu:1 RealMemory=4000 State=IDLE Partitions=a,b CfgTRES=cpu=4,mem=4000M\nNodeName=n2 CPUTot=2 Partitions=a\n",
    ),
    (
        "partitions.txt",
        "PartitionName=a Default=YES MaxTime=1-00:00:00 MaxNodes=2 QoS=few DenyAccounts=x PriorityTier=2\nPartitionName=b AllowAccounts=x,y MaxTime=UNLIMITED\n",
    ),
    (
        "qos.txt",
        "Name|Priority|Flags|GrpTRES|MaxJobsPU|MaxWall|Preempt|PreemptMode|GraceTime\nfew|3|OverPartQOS|cpu=2,mem=3G,gres/gpu:a=1|2|1:00:00|low||\nlow|1|||||few|cancel|0:30\n",
    ),
    (
        "assoc.txt",
        "Cluster|Account|User|ParentName|Share|GrpTRES|MaxJobs\nc|root|||1||\nc|x||root|3|cpu=4|2\nc|y||x|parent||\nc|x|u||2||\n",
    ),
    ("events.txt", "NodeName|TimeStart|TimeEnd|State\nn1|900|1100|DOWN\nn2|1050|Unknown|DRAIN\n"),
    (
        "sacct.txt",
        "JobIDRaw|Submit|Start|End|State|AllocCPUS|NNodes|ReqMem|AllocTRES|Partition|QOS|Account|User\n1|1000|1001|1011|COMPLETED|2|1|1G|cpu=2,mem=1G|a|few|x|u\n",
    ),
    ("dump.txt", "start=0\nend=2000\n"),
];

/// Signs at which the readers decide.
const SIGNS: &[u8] = b"=|,:()-\n 0129999999aU\xff\x1b\"";

fn write(folder: &Path, damaged: usize, places: &[(usize, usize, bool)]) {
    for (index, (name, text)) in FILES.iter().enumerate() {
        let mut bytes = text.as_bytes().to_vec();
        for &(place, sign, replaces) in places.iter().filter(|_| index == damaged) {
            let (place, sign) = (place % bytes.len(), SIGNS[sign % SIGNS.len()]);
            match replaces {
                true => bytes[place] = sign,
                false => bytes.insert(place, sign),
            }
        }
        fs::write(folder.join(name), bytes).expect("a file can be written");
    }
}

fn dump(folder: &Path) -> Dump {
    Dump { folder: folder.to_owned(), from_scenario: PathBuf::from("dump"), zone: None }
}

#[test]
fn an_undamaged_dump_is_imported() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), FILES.len(), &[]);
    let imported = import(&dump(folder.path())).expect("it is imported");
    assert_eq!(
        (imported.counts.jobs, imported.counts.nodes, imported.counts.down_times),
        (1, 2, 2)
    );
}

proptest! {
    #[test]
    fn damaged_dumps_are_imported_or_refused(
        damaged in 0..FILES.len(),
        places in prop::collection::vec((any::<usize>(), any::<usize>(), any::<bool>()), 1..6),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), damaged, &places);
        match import(&dump(folder.path())) {
            Ok(imported) => {
                let read: Result<toml::Table, _> = imported.text.parse();
                prop_assert!(read.is_ok(), "{:?}\n{}", read.err(), imported.text);
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
