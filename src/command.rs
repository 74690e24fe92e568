//! The command line as a function, for programs of one's own that are the command `haggle` and have rules from outside:
//! [`main_with`].

use std::process::ExitCode;
use std::sync::OnceLock;
use std::thread;

use clap::Parser;
use haggle_model::lines;
use haggle_scenario::Rules;

use crate::{cli, exit, interrupt, report};

/// How deep calls may be nested, whatever the shell allows its commands.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The rules from outside that scenarios can name.
static OWN: OnceLock<Rules> = OnceLock::new();

/// The whole command `haggle`: parses what was typed, carries it out, prints what came of it.
pub fn main() -> ExitCode {
    main_with(Rules::new())
}

/// The whole command `haggle`, whose scenarios can name these rules, too: `order = { own = "smallest-area" }`.
///
/// It reads the arguments of the process and listens to its signals, so it is called once, by `main`:
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
    OWN.get_or_init(|| rules);
    interrupt::listen();
    let main = thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn(work);
    match main {
        // Who panics has said so.
        Ok(main) => main.join().unwrap_or(ExitCode::from(101)),
        Err(error) => {
            report::say(&format!("error: no thread can be started: {error}\n"));
            exit::Exit::InvalidInput.into()
        }
    }
}

/// The rules from outside that this program has.
pub(crate) fn own_rules() -> &'static Rules {
    OWN.get_or_init(Rules::new)
}

fn work() -> ExitCode {
    let cli = cli::Cli::parse();
    match cli.command.run() {
        Ok(exit) => exit.into(),
        Err(_) if lines::gave_up() => {
            report::say("interrupted: no results were written\n");
            interrupt::interrupted().into()
        }
        Err(error) => report::report(&error).into(),
    }
}
