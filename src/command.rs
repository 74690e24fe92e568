//! The command line as a function, for own programs that are the command `haggle` with additional
//! rules: [`main_with`].

use std::process::ExitCode;
use std::sync::OnceLock;
use std::thread;

use clap::Parser;
use haggle_scenario::Rules;
use haggle_workloads::lines;

use crate::{cli, exit, interrupt, report};

/// Stack of the main thread. It bounds the depth of nested calls, independent of the limit of the
/// shell.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Own rules that scenarios can name.
static OWN: OnceLock<Rules> = OnceLock::new();

/// The whole command `haggle`: parses the arguments, carries them out and prints the results.
pub fn main() -> ExitCode {
    main_with(Rules::new())
}

/// The whole command `haggle`, whose scenarios can also name these rules:
/// `order = { own = "smallest-area" }`.
///
/// It reads the arguments of the process and handles its signals, so `main` must call it only once:
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use haggle::Rules;
///
/// fn main() -> ExitCode {
///     let rules = Rules::new().order("narrow", 1, |request, _| i64::from(request.processors));
///     haggle::command::main_with(rules)
/// }
/// ```
pub fn main_with(rules: Rules) -> ExitCode {
    // Before all else: reading a scenario sets empty rules if there are none.
    OWN.get_or_init(|| rules);
    // Before the first thread, because threads inherit the blocked signals.
    interrupt::listen();
    let main = thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn(work);
    match main {
        // A panic has already printed its message.
        Ok(main) => main.join().unwrap_or(ExitCode::from(101)),
        Err(error) => {
            report::say(&format!("error: no thread can be started: {error}\n"));
            exit::Exit::InvalidInput.into()
        }
    }
}

/// The own rules of this program.
pub(crate) fn own_rules() -> &'static Rules {
    OWN.get_or_init(Rules::new)
}

fn work() -> ExitCode {
    let cli = cli::Cli::parse();
    match cli.command.run() {
        Ok(exit) => exit.into(),
        // The error follows only from the interrupted reading.
        Err(_) if lines::gave_up() => {
            report::say("interrupted: no results were written\n");
            interrupt::interrupted().into()
        }
        Err(error) => report::report(&error).into(),
    }
}
