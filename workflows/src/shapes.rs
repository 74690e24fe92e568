//! Workflows drawn at random in the shapes of applications.
//!
//! The structure of the five scientific applications is as Juve et al. (2013) describe it. Means and
//! variances of run times and file sizes are the parameters of the generator of synthetic workflows
//! that Bharathi et al. (2008) published with Pegasus, made from profiles of real runs; times are in
//! seconds, sizes in bytes. What is our own stands with each shape. Normal distributions are drawn
//! again below zero, so wide ones have larger means. The same shape, size and seed give the same
//! workflow on every machine.

mod cybershake;
mod draw;
mod epigenomics;
mod fork_join;
mod inspiral;
mod layered;
mod montage;
mod sipht;

use std::fmt;

use thiserror::Error;

use crate::{GraphError, Workflow};
use draw::Draw;

/// Most tasks of a workflow that is drawn.
pub const TASKS_MAX: usize = 10_000_000;

/// The shape of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// One task, then all others at once, then one task.
    ForkJoin,
    /// Layers of random widths; each task needs one to three tasks of the layer above.
    Layered,
    /// Mosaics of the sky.
    Montage,
    /// Earthquake hazards of a site.
    CyberShake,
    /// Genome sequences, split into lanes and chunks.
    Epigenomics,
    /// Gravitational waves of inspiraling binaries.
    Inspiral,
    /// Search for small untranslated RNAs.
    Sipht,
}

/// Why there is no workflow of that shape.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The shape has more tasks in any case.
    #[error("{shape} has at least {min} tasks; ask for more")]
    TooFew {
        /// The shape.
        shape: Shape,
        /// Its least number of tasks.
        min: usize,
    },
    /// More tasks than are drawn.
    #[error("at most {TASKS_MAX} tasks are generated")]
    TooMany,
    /// What was drawn is out of range.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl Shape {
    /// All of them.
    pub const ALL: [Shape; 7] = [
        Shape::ForkJoin,
        Shape::Layered,
        Shape::Montage,
        Shape::CyberShake,
        Shape::Epigenomics,
        Shape::Inspiral,
        Shape::Sipht,
    ];

    /// The word that users write.
    pub const fn name(self) -> &'static str {
        match self {
            Shape::ForkJoin => "fork-join",
            Shape::Layered => "layered",
            Shape::Montage => "montage",
            Shape::CyberShake => "cybershake",
            Shape::Epigenomics => "epigenomics",
            Shape::Inspiral => "inspiral",
            Shape::Sipht => "sipht",
        }
    }

    /// The least number of tasks.
    pub const fn tasks_min(self) -> usize {
        match self {
            Shape::ForkJoin => 3,
            Shape::Layered => 1,
            Shape::Montage => 15,
            Shape::CyberShake => 5,
            Shape::Epigenomics => 8,
            Shape::Inspiral => 6,
            Shape::Sipht => 13,
        }
    }

    /// Draws a workflow of the largest number of tasks up to `tasks` that the shape allows, at most
    /// three fewer. An inspiral has an even number of tasks, not eight; epigenomics have an odd one from
    /// 19, or below 40 a multiple of four, or 15; a CyberShake has not six. All others have exactly
    /// `tasks`.
    pub fn generate(self, tasks: usize, seed: u64) -> Result<Workflow, ShapeError> {
        if tasks < self.tasks_min() {
            return Err(ShapeError::TooFew { shape: self, min: self.tasks_min() });
        }
        if tasks > TASKS_MAX {
            return Err(ShapeError::TooMany);
        }
        let mut draw = Draw::new(self, seed);
        match self {
            Shape::ForkJoin => fork_join::draw(&mut draw, tasks),
            Shape::Layered => layered::draw(&mut draw, tasks),
            Shape::Montage => montage::draw(&mut draw, tasks),
            Shape::CyberShake => cybershake::draw(&mut draw, tasks),
            Shape::Epigenomics => epigenomics::draw(&mut draw, tasks),
            Shape::Inspiral => inspiral::draw(&mut draw, tasks),
            Shape::Sipht => sipht::draw(&mut draw, tasks),
        }?;
        Ok(draw.build()?)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
