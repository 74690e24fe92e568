//! Shapes: their sizes, their structure, and that their numbers are those of the sources.

use std::collections::BTreeMap;

use haggle_workflows::shapes::{ShapeError, TASKS_MAX, WorkflowShape};
use haggle_workflows::{TaskId, Workflow};

fn drawn(shape: WorkflowShape, tasks: usize, seed: u64) -> Workflow {
    shape.generate(tasks, seed).expect("a good size")
}

#[test]
fn sizes_are_met_as_near_as_shapes_allow() {
    for shape in WorkflowShape::ALL {
        let min = shape.tasks_min();
        assert_eq!(shape.generate(min - 1, 1), Err(ShapeError::TooFew { shape, min }));
        assert_eq!(shape.generate(TASKS_MAX + 1, 1), Err(ShapeError::TooMany));
        for tasks in (min..300).chain([999, 1_000, 1_001, 1_002, 10_000]) {
            let expected = match shape {
                WorkflowShape::CyberShake if tasks == 6 => 5,
                WorkflowShape::Inspiral if matches!(tasks, 8 | 9) => 6,
                WorkflowShape::Inspiral => tasks - tasks % 2,
                WorkflowShape::Epigenomics if matches!(tasks, ..15 | 17 | 18) => tasks - tasks % 4,
                WorkflowShape::Epigenomics if tasks < 40 && tasks % 4 == 0 => tasks,
                WorkflowShape::Epigenomics if tasks % 2 == 0 => tasks - 1,
                _ => tasks,
            };
            let workflow = drawn(shape, tasks, 1);
            assert_eq!(workflow.tasks().len(), expected, "{shape} of {tasks}");
            let isolated = |&task: &TaskId| {
                workflow.parents(task).is_empty() && workflow.children(task).is_empty()
            };
            // In random layers, anything may happen.
            let connected = workflow.ids().find(isolated).is_none();
            assert!(connected || shape == WorkflowShape::Layered, "{shape} of {tasks}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_workflow() {
    for shape in WorkflowShape::ALL {
        assert_eq!(drawn(shape, 100, 3), drawn(shape, 100, 3));
        assert_ne!(drawn(shape, 100, 3), drawn(shape, 100, 4));
    }
}

/// Kinds of each level.
fn kinds(workflow: &Workflow) -> Vec<BTreeMap<&str, usize>> {
    let of = |level: &[TaskId]| {
        let mut kinds = BTreeMap::new();
        for &task in level {
            *kinds.entry(workflow.task(task).kind.as_deref().unwrap_or("")).or_insert(0) += 1;
        }
        kinds
    };
    workflow.levels().map(of).collect()
}

#[test]
fn structures() {
    let of = |shape, tasks| {
        let workflow = drawn(shape, tasks, 1);
        let text = |kinds: BTreeMap<&str, usize>| {
            let texts: Vec<String> =
                kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            texts.join(", ")
        };
        kinds(&workflow).into_iter().map(text).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(of(WorkflowShape::ForkJoin, 12), "1 root; 10 parallel; 1 final");
    assert_eq!(
        of(WorkflowShape::Montage, 100),
        "16 mProjectPP; 62 mDiffFit; 1 mConcatFit; 1 mBgModel; 16 mBackground; 1 mImgTbl; 1 mAdd; \
         1 mShrink; 1 mJPEG"
    );
    assert_eq!(
        of(WorkflowShape::CyberShake, 100),
        "2 ExtractSGT; 48 SeismogramSynthesis; 48 PeakValCalcOkaya, 1 ZipSeis; 1 ZipPSA"
    );
    assert_eq!(
        of(WorkflowShape::Epigenomics, 101),
        "3 fastqSplit; 23 filterContams; 23 sol2sanger; 23 fastq2bfq; 23 map; 3 mapMerge; 1 mapMerge; \
         1 maqIndex; 1 pileup"
    );
    assert_eq!(
        of(WorkflowShape::Inspiral, 100),
        "23 TmpltBank; 23 Inspiral; 4 Thinca; 23 TrigBank; 23 Inspiral; 4 Thinca"
    );
    assert_eq!(
        of(WorkflowShape::Sipht, 60),
        "2 Blast, 2 Findterm, 36 Patser, 2 RNAMotif, 2 Transterm; 2 Patser_concate, 2 SRNA; \
         2 Blast_QRNA, 2 Blast_candidate, 2 Blast_paralogues, 2 FFN_Parse; 2 Blast_synteny; \
         2 SRNA_annotate"
    );
    assert_eq!(kinds(&drawn(WorkflowShape::Layered, 1_000, 1)).len(), 32);
}

/// Means of kinds with narrow distributions, which are hardly ever drawn again.
#[test]
fn run_times_are_those_of_the_source() {
    let expected = [
        (WorkflowShape::Montage, "mProjectPP", 13.59),
        (WorkflowShape::Montage, "mDiffFit", 10.59),
        (WorkflowShape::Montage, "mBackground", 10.74),
        (WorkflowShape::Inspiral, "TmpltBank", 18.14),
        (WorkflowShape::Inspiral, "Thinca", 5.37),
        (WorkflowShape::Inspiral, "TrigBank", 5.11),
        (WorkflowShape::Sipht, "Patser", 1.27),
        (WorkflowShape::Sipht, "RNAMotif", 36.42),
        (WorkflowShape::Sipht, "Blast_QRNA", 1_412.09),
    ];
    for (shape, kind, mean) in expected {
        let workflow = drawn(shape, 10_000, 1);
        let times: Vec<f64> = workflow
            .tasks()
            .iter()
            .filter(|task| task.kind.as_deref() == Some(kind))
            .map(|task| task.work.as_secs_f64())
            .collect();
        let found = times.iter().sum::<f64>() / times.len() as f64;
        assert!((found / mean - 1.0).abs() < 0.02, "{kind}: {found} s, published {mean} s");
    }
}
