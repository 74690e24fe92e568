//! Problems in logs, with their places.

use std::fmt;
use std::io;
use std::sync::Arc;

/// A problem in a log with its place: `ctc.swf:17:25: field 4 (run time): …`.
#[derive(Debug)]
pub struct Placed<P> {
    /// The log as the user named it, or `<stdin>`.
    pub log: Arc<str>,
    /// Line, from 1; 0 = the problem is with the log as a whole.
    pub line: u64,
    /// Byte column in the line, from 1; 0 = the problem is with the line as a whole.
    pub column: usize,
    /// The problem.
    pub problem: P,
}

/// A problem of a log, or of one of its records.
pub trait Problem: fmt::Debug + fmt::Display {
    /// The error of the system that is the problem, if it is one. The message includes it.
    fn cause(&self) -> Option<&io::Error>;
}

impl<P: fmt::Display> fmt::Display for Placed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.log)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl<P: Problem> std::error::Error for Placed<P> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message already includes that of the cause.
        self.problem.cause().and_then(std::error::Error::source)
    }
}
