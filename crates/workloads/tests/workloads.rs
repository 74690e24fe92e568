//! Workloads end to end: real logs, and input that no log would hold.

#[path = "workloads/garbage.rs"]
mod garbage;
#[path = "workloads/independent.rs"]
mod independent;
#[path = "workloads/logs.rs"]
mod logs;
#[path = "workloads/months.rs"]
mod months;
#[path = "workloads/pipeline.rs"]
mod pipeline;
#[path = "workloads/real_logs.rs"]
mod real_logs;
#[path = "workloads/sorting.rs"]
mod sorting;
