//! Reasons why limits keep a job from its submission or its start.

use crate::priority::resources::PerResource;

haggle_model::words! {
    /// The limit that a job exceeds, by the word that `squeue` shows.
    pub enum Reason {
        /// Running jobs of an association and all below it.
        AssocGrpJobs = "AssocGrpJobsLimit",
        /// Submitted jobs of an association and all below it.
        AssocGrpSubmit = "AssocGrpSubmitJobsLimit",
        /// Processors of an association and all below it.
        AssocGrpProcessors = "AssocGrpCpuLimit",
        /// Memory of an association and all below it.
        AssocGrpMemory = "AssocGrpMemLimit",
        /// Nodes of an association and all below it.
        AssocGrpNodes = "AssocGrpNodeLimit",
        /// Accelerators of an association and all below it.
        AssocGrpGpus = "AssocGrpGRES",
        /// Running jobs of a user of an account.
        AssocMaxJobs = "AssocMaxJobsLimit",
        /// Submitted jobs of a user of an account.
        AssocMaxSubmit = "AssocMaxSubmitJobLimit",
        /// Processors of a job, by its association.
        AssocJobProcessors = "AssocMaxCpuPerJobLimit",
        /// Memory of a job, by its association.
        AssocJobMemory = "AssocMaxMemPerJob",
        /// Nodes of a job, by its association.
        AssocJobNodes = "AssocMaxNodePerJobLimit",
        /// Accelerators of a job, by its association.
        AssocJobGpus = "AssocMaxGRESPerJob",
        /// Time limit of a job, by its association.
        AssocJobTime = "AssocMaxWallDurationPerJobLimit",
        /// Running jobs of a QOS.
        QosGrpJobs = "QOSGrpJobsLimit",
        /// Submitted jobs of a QOS.
        QosGrpSubmit = "QOSGrpSubmitJobsLimit",
        /// Processors of a QOS.
        QosGrpProcessors = "QOSGrpCpuLimit",
        /// Memory of a QOS.
        QosGrpMemory = "QOSGrpMemLimit",
        /// Nodes of a QOS.
        QosGrpNodes = "QOSGrpNodeLimit",
        /// Accelerators of a QOS.
        QosGrpGpus = "QOSGrpGRES",
        /// Running jobs of an account in a QOS.
        QosAccountJobs = "MaxJobsPerAccount",
        /// Submitted jobs of an account in a QOS.
        QosAccountSubmit = "MaxSubmitJobsPerAccount",
        /// Processors of an account in a QOS.
        QosAccountProcessors = "MaxCpuPerAccount",
        /// Memory of an account in a QOS.
        QosAccountMemory = "MaxMemoryPerAccount",
        /// Nodes of an account in a QOS.
        QosAccountNodes = "MaxNodePerAccount",
        /// Accelerators of an account in a QOS.
        QosAccountGpus = "MaxGRESPerAccount",
        /// Running jobs of a person in a QOS.
        QosPersonJobs = "QOSMaxJobsPerUserLimit",
        /// Submitted jobs of a person in a QOS.
        QosPersonSubmit = "QOSMaxSubmitJobPerUserLimit",
        /// Processors of a person in a QOS.
        QosPersonProcessors = "QOSMaxCpuPerUserLimit",
        /// Memory of a person in a QOS.
        QosPersonMemory = "QOSMaxMemoryPerUser",
        /// Nodes of a person in a QOS.
        QosPersonNodes = "QOSMaxNodePerUserLimit",
        /// Accelerators of a person in a QOS.
        QosPersonGpus = "QOSMaxGRESPerUser",
        /// Processors of a job, by its QOS.
        QosJobProcessors = "QOSMaxCpuPerJobLimit",
        /// Memory of a job, by its QOS.
        QosJobMemory = "QOSMaxMemoryPerJob",
        /// Nodes of a job, by its QOS.
        QosJobNodes = "QOSMaxNodePerJobLimit",
        /// Accelerators of a job, by its QOS.
        QosJobGpus = "QOSMaxGRESPerJob",
        /// Time limit of a job, by its QOS.
        QosJobTime = "QOSMaxWallDurationPerJobLimit",
        /// Fewer processors than the QOS demands.
        QosMinProcessors = "QOSMinCpuNotSatisfied",
        /// Less memory than the QOS demands.
        QosMinMemory = "QOSMinMemory",
        /// Fewer nodes than the QOS demands.
        QosMinNodes = "QOSMinNode",
        /// Fewer accelerators than the QOS demands.
        QosMinGpus = "QOSMinGRES",
    }
}

/// The reasons of limits on what jobs hold together.
pub(super) struct Reasons {
    pub running: Reason,
    pub submitted: Reason,
    pub amounts: PerResource<Reason>,
}

/// Limits of an association and all below it.
pub(super) const ASSOC_GROUP: Reasons = Reasons {
    running: Reason::AssocGrpJobs,
    submitted: Reason::AssocGrpSubmit,
    amounts: PerResource {
        processors: Reason::AssocGrpProcessors,
        memory: Reason::AssocGrpMemory,
        nodes: Reason::AssocGrpNodes,
        gpus: Reason::AssocGrpGpus,
    },
};

/// Limits of a QOS.
pub(super) const QOS_GROUP: Reasons = Reasons {
    running: Reason::QosGrpJobs,
    submitted: Reason::QosGrpSubmit,
    amounts: PerResource {
        processors: Reason::QosGrpProcessors,
        memory: Reason::QosGrpMemory,
        nodes: Reason::QosGrpNodes,
        gpus: Reason::QosGrpGpus,
    },
};

/// Limits of an account in a QOS.
pub(super) const QOS_ACCOUNT: Reasons = Reasons {
    running: Reason::QosAccountJobs,
    submitted: Reason::QosAccountSubmit,
    amounts: PerResource {
        processors: Reason::QosAccountProcessors,
        memory: Reason::QosAccountMemory,
        nodes: Reason::QosAccountNodes,
        gpus: Reason::QosAccountGpus,
    },
};

/// Limits of a person in a QOS.
pub(super) const QOS_PERSON: Reasons = Reasons {
    running: Reason::QosPersonJobs,
    submitted: Reason::QosPersonSubmit,
    amounts: PerResource {
        processors: Reason::QosPersonProcessors,
        memory: Reason::QosPersonMemory,
        nodes: Reason::QosPersonNodes,
        gpus: Reason::QosPersonGpus,
    },
};

/// Limits of a job, by its association.
pub(super) const ASSOC_JOB: PerResource<Reason> = PerResource {
    processors: Reason::AssocJobProcessors,
    memory: Reason::AssocJobMemory,
    nodes: Reason::AssocJobNodes,
    gpus: Reason::AssocJobGpus,
};

/// Limits of a job, by its QOS.
pub(super) const QOS_JOB: PerResource<Reason> = PerResource {
    processors: Reason::QosJobProcessors,
    memory: Reason::QosJobMemory,
    nodes: Reason::QosJobNodes,
    gpus: Reason::QosJobGpus,
};

/// Least amounts of a job, by its QOS.
pub(super) const QOS_LEAST: PerResource<Reason> = PerResource {
    processors: Reason::QosMinProcessors,
    memory: Reason::QosMinMemory,
    nodes: Reason::QosMinNodes,
    gpus: Reason::QosMinGpus,
};
