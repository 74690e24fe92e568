//! Where a metascheduler sends an external job.
