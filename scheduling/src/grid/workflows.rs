//! Workflows whose tasks report how far they are (Chtepen 2011, chapters 5 and 6).

pub mod curve;
pub mod prediction;

pub use prediction::{Average, CurveFit, Extrapolation, Predictor};
