//! machine/sync

pub(crate) mod cluster;
pub(crate) mod flag_condition;
pub(crate) mod queue;
pub(crate) mod register_pool;
pub(crate) mod synchronisation;
pub(crate) mod tickets;
pub(crate) mod timeline;
