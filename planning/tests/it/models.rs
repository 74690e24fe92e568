//! Performance models, and the synthetic applications made of them.

use haggle_planning::synthetic::{Draws, Synthetic};
use haggle_planning::{
    Application, ApplicationError, Cluster, ClusterError, Phase, Shares, Speedup, Term,
};

/// 1e-6 N³ / (a n) + 0.02 N log2 n / b.
fn published_shape() -> Phase {
    Phase {
        computation: Term { coefficient: 1e-6, size: 3.0, load: 1.0, speedup: Speedup::Power(1.0) },
        communication: Term {
            coefficient: 0.02,
            size: 1.0,
            load: 1.0,
            speedup: Speedup::InverseLog,
        },
    }
}

#[test]
fn equation_1() {
    let seconds = published_shape().seconds(2000.0, Shares { cpu: 0.5, bandwidth: 0.4 }, 16);
    assert!((seconds - 1400.0).abs() < 1e-9, "{seconds}");
    let alone = published_shape().seconds(2000.0, Shares { cpu: 0.5, bandwidth: 0.4 }, 1);
    assert!((alone - 16_000.0).abs() < 1e-9, "{alone}");
}

#[test]
fn applications_that_cannot_be() {
    let phase = published_shape();
    let slower = Term { speedup: Speedup::Power(-0.5), ..phase.computation };
    let negative = Term { coefficient: -1.0, ..phase.communication };
    let refused = |phases: &[Phase], size| Application::new(phases, size).expect_err("refused");
    assert_eq!(refused(&[], 1.0), ApplicationError::NoPhase);
    assert_eq!(refused(&[phase], 0.0), ApplicationError::Size);
    assert_eq!(
        refused(&[phase, Phase { computation: slower, ..phase }], 1.0),
        ApplicationError::SlowerWithMore { phase: 2 }
    );
    let endless = Term { coefficient: 1e99, size: 9.0, ..phase.computation };
    assert_eq!(
        refused(&[phase, phase, Phase { computation: endless, ..phase }], 1e3),
        ApplicationError::Term { phase: 3 }
    );
    assert_eq!(
        refused(&[Phase { communication: negative, ..phase }], 1.0),
        ApplicationError::Term { phase: 1 }
    );
}

#[test]
fn clusters_that_cannot_be() {
    let refused = |cluster: Result<Cluster, ClusterError>| cluster.expect_err("refused");
    assert_eq!(refused(Cluster::with_uplinks(0.0, vec![1.0], vec![1.0])), ClusterError::Speed);
    assert_eq!(refused(Cluster::with_uplinks(1.0, vec![0.0], vec![1.0])), ClusterError::Share);
    assert_eq!(refused(Cluster::with_uplinks(1.0, vec![1.0], vec![1.1])), ClusterError::Share);
    assert_eq!(refused(Cluster::with_uplinks(1.0, vec![1.0], vec![])), ClusterError::Links);
    assert_eq!(refused(Cluster::with_links(1.0, vec![1.0], vec![vec![]])), ClusterError::Links);
    let nan = vec![vec![1.0, f64::NAN], vec![1.0, 1.0]];
    assert_eq!(refused(Cluster::with_links(1.0, vec![1.0; 2], nan)), ClusterError::Share);
}

#[test]
fn draws_are_those_of_any_other_program() {
    let mut draws = Draws::new(1);
    for expected in [0.566561575172, 0.745781757263, 0.971002753587] {
        assert!((draws.uniform() - expected).abs() < 1e-12);
    }
}

/// What phases take where they are defined: 64 processors, half of everything available.
fn reference_seconds(phase: &Phase) -> (f64, f64) {
    let shares = Shares { cpu: 0.5, bandwidth: 0.5 };
    let seconds = phase.seconds(1.0, shares, 64);
    let quiet = Phase { communication: Term { coefficient: 0.0, ..phase.communication }, ..*phase };
    (seconds, 1.0 - quiet.seconds(1.0, shares, 64) / seconds)
}

#[test]
fn synthetic_applications_take_what_they_are_to_take() {
    let expected = [
        (Synthetic::Md, 27_638.026),
        (Synthetic::Changa, 41_150.357),
        (Synthetic::Athena, 24_901.536),
        (Synthetic::Lammps, 24_166.707),
        (Synthetic::Mpb, 25_512.491),
    ];
    for (kind, expected) in expected {
        let phases = kind.draw(1);
        let sum: f64 = phases.iter().map(|phase| reference_seconds(phase).0).sum();
        assert!((sum - expected).abs() < 0.001, "{kind:?}: {sum}");
    }
    for (kind, seconds, share) in
        [(Synthetic::Md, 2403.074, 0.2944), (Synthetic::Changa, 991.323, 0.3263)]
    {
        let first = reference_seconds(&kind.draw(1)[0]);
        assert!((first.0 - seconds).abs() < 0.001 && (first.1 - share).abs() < 0.0001, "{first:?}");
    }
}
