//! One binary of tests, a module a behaviour: the command as its users meet it,
//! and the library as the command uses it.

mod claims;
mod cli_bargaining;
mod cli_compare;
mod cli_explain;
mod cli_extends;
mod cli_failures;
mod cli_grid;
mod cli_grid_figures;
mod cli_independent_jobs;
mod cli_new;
mod cli_plot;
mod cli_replay;
mod cli_reproduce;
mod cli_reproduce_mistakes;
mod cli_run;
mod cli_sessions;
mod cli_show;
mod cli_sweep;
mod cli_validate;
mod cli_warnings;
mod cli_workload;
mod command;
mod damaged_logs_run;

mod every_key;
mod grid_claims;
mod reference_results;
mod reproduce_studies;
mod scenario_expands;
mod scenario_reader_survives;
mod scenario_round_trips;
mod scenarios_in_the_repository;
mod small_runs;
mod workloads_open;
