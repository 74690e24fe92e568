//! Performance models, and the synthetic applications made of them.

use haggle_planning::fit::{Observation, fit, mean_error};
use haggle_planning::synthetic::{ApplicationKind, Draws};
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

/// Run time and communication part of a phase where it is defined: 64 processors, half of everything available.
fn reference_seconds(phase: &Phase) -> (f64, f64) {
    let shares = Shares { cpu: 0.5, bandwidth: 0.5 };
    let seconds = phase.seconds(1.0, shares, 64);
    let quiet = Phase { communication: Term { coefficient: 0.0, ..phase.communication }, ..*phase };
    (seconds, 1.0 - quiet.seconds(1.0, shares, 64) / seconds)
}

#[test]
fn synthetic_applications_take_what_they_are_to_take() {
    let expected = [
        (ApplicationKind::Md, 27_638.026),
        (ApplicationKind::Changa, 41_150.357),
        (ApplicationKind::Athena, 24_901.536),
        (ApplicationKind::Lammps, 24_166.707),
        (ApplicationKind::Mpb, 25_512.491),
    ];
    for (kind, expected) in expected {
        let phases = kind.draw(1);
        let sum: f64 = phases.iter().map(|phase| reference_seconds(phase).0).sum();
        assert!((sum - expected).abs() < 0.001, "{kind:?}: {sum}");
    }
    for (kind, seconds, share) in
        [(ApplicationKind::Md, 2403.074, 0.2944), (ApplicationKind::Changa, 991.323, 0.3263)]
    {
        let first = reference_seconds(&kind.draw(1)[0]);
        assert!((first.0 - seconds).abs() < 0.001 && (first.1 - share).abs() < 0.0001, "{first:?}");
    }
}

/// Times of a model at all combinations of three sizes, three numbers of processors and five loads.
fn observed(model: impl Fn(f64, Shares, u32) -> f64) -> Vec<Observation> {
    let mut draws = Draws::new(3);
    let mut seen = Vec::new();
    for size in [0.25, 0.5, 1.0] {
        for processors in [4, 8, 16] {
            for _ in 0..5 {
                let cpu = draws.between(0.1, 1.0);
                let shares = Shares { cpu, bandwidth: draws.between(0.2, 0.8) };
                let seconds = model(size, shares, processors);
                seen.push(Observation { size, shares, processors, seconds });
            }
        }
    }
    seen
}

#[test]
fn a_model_is_found_again_in_its_times() {
    for kind in [ApplicationKind::Md, ApplicationKind::Changa, ApplicationKind::Mpb] {
        for phase in &kind.draw(1)[..5] {
            let seen = observed(|size, shares, processors| phase.seconds(size, shares, processors));
            let found = fit(&seen).expect("observations");
            assert!(mean_error(&found, &seen) < 1e-9, "{found:?}");
            assert_eq!(found.computation.size, phase.computation.size);
            assert_eq!(found.computation.speedup, phase.computation.speedup);
            assert_eq!(found.communication.speedup, phase.communication.speedup);
        }
    }
    assert_eq!(fit(&[]), None);
}

/// One model of a whole application is worse than one of each phase, the more its phases differ;
/// and of all models with these exponents none is closer.
#[test]
fn one_model_of_many_phases_is_not_exact() {
    let error = |kind: ApplicationKind| {
        let phases = kind.draw(1);
        let seen = observed(|size, shares, processors| {
            phases.iter().map(|phase| phase.seconds(size, shares, processors)).sum()
        });
        let found = fit(&seen).expect("observations");
        let positive =
            found.computation.coefficient >= 0.0 && found.communication.coefficient >= 0.0;
        assert!(positive, "{found:?}");
        // Another coefficient makes the sum of squares greater, so that it is a least one.
        let squares = |model: &Phase| -> f64 {
            let part = |seen: &Observation| {
                model.seconds(seen.size, seen.shares, seen.processors) / seen.seconds - 1.0
            };
            seen.iter().map(|seen| part(seen).powi(2)).sum()
        };
        for factor in [0.99, 1.01] {
            let mut other = found;
            other.computation.coefficient *= factor;
            assert!(squares(&other) > squares(&found));
            let mut other = found;
            other.communication.coefficient *= factor;
            assert!(squares(&other) >= squares(&found));
        }
        mean_error(&found, &seen)
    };
    let (uniform, mixed) = (error(ApplicationKind::Mpb), error(ApplicationKind::Md));
    assert!(uniform < 1e-9 && mixed > 0.01, "{uniform} {mixed}");
}
