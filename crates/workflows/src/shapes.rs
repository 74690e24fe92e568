//! Workflows drawn at random in the shapes of applications.
//!
//! The structure of the five scientific applications is as Juve et al. (2013) describe it. Means and
//! variances of run times and file sizes come from profiles of real runs. They are the parameters of the
//! generator of synthetic workflows that Bharathi et al. (2008) published with Pegasus. Times are in
//! seconds, sizes in bytes. Our own assumptions are noted at each shape. Draws of normal distributions
//! below zero are repeated, so wide distributions have larger means. The same shape, size and seed give
//! the same workflow on every machine.

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

/// Largest number of tasks of a drawn workflow.
pub const TASKS_MAX: usize = 10_000_000;

haggle_model::words! {
    /// Shapes of workflows of applications (docs/workflows.md).
    pub enum WorkflowShape {
        /// A root, tasks side by side, and a final task, of drawn lengths and data.
        ForkJoin = "fork-join",
        /// Layers of random widths; each task needs one to three tasks of the layer above.
        Layered = "layered",
        /// Mosaics of the sky.
        Montage = "montage",
        /// Earthquake hazards of a site.
        CyberShake = "cybershake",
        /// Genome sequences, split into lanes and chunks.
        Epigenomics = "epigenomics",
        /// Gravitational waves of inspiraling binaries.
        Inspiral = "inspiral",
        /// Search for small untranslated RNAs.
        Sipht = "sipht",
    }
}

/// Reason why no workflow of a shape can be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// The shape needs more tasks.
    #[error("{shape} has at least {min} tasks; ask for more")]
    TooFew {
        /// The shape.
        shape: WorkflowShape,
        /// Its least number of tasks.
        min: usize,
    },
    /// More tasks than the limit.
    #[error("at most {TASKS_MAX} tasks are generated")]
    TooMany,
    /// A drawn value is out of range.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

impl WorkflowShape {
    /// The least number of tasks.
    pub const fn tasks_min(self) -> usize {
        match self {
            WorkflowShape::ForkJoin => 3,
            WorkflowShape::Layered => 1,
            WorkflowShape::Montage => 15,
            WorkflowShape::CyberShake => 5,
            WorkflowShape::Epigenomics => 8,
            WorkflowShape::Inspiral => 6,
            WorkflowShape::Sipht => 13,
        }
    }

    /// Draws a workflow of the largest number of tasks up to `tasks` that the shape allows, at most
    /// three fewer. An inspiral has an even number of tasks, but not eight. An epigenomics has an odd number
    /// from 19 on, or 15, or below 40 a multiple of four. A CyberShake never has six. All others have
    /// exactly `tasks`.
    pub fn generate(self, tasks: usize, seed: u64) -> Result<Workflow, ShapeError> {
        if tasks < self.tasks_min() {
            return Err(ShapeError::TooFew { shape: self, min: self.tasks_min() });
        }
        if tasks > TASKS_MAX {
            return Err(ShapeError::TooMany);
        }
        let mut draw = Draw::new(self, seed);
        match self {
            WorkflowShape::ForkJoin => fork_join::draw(&mut draw, tasks),
            WorkflowShape::Layered => layered::draw(&mut draw, tasks),
            WorkflowShape::Montage => montage::draw(&mut draw, tasks),
            WorkflowShape::CyberShake => cybershake::draw(&mut draw, tasks),
            WorkflowShape::Epigenomics => epigenomics::draw(&mut draw, tasks),
            WorkflowShape::Inspiral => inspiral::draw(&mut draw, tasks),
            WorkflowShape::Sipht => sipht::draw(&mut draw, tasks),
        }?;
        Ok(draw.build()?)
    }
}

impl fmt::Display for WorkflowShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
