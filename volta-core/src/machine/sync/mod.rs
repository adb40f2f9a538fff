//! How the threads of a run order one another: the state that the barriers, flags, tickets, queues and register pools of a
//! CTA or a cluster have while it runs, on the data of [`concurrency`](crate::concurrency).
//!
//! Which operations change this state, and when threads go on, is decided in [`exec::wait`](super::exec::wait).

pub(crate) mod cluster;
pub(crate) mod flag_condition;
pub(crate) mod queue;
pub(crate) mod register_pool;
pub(crate) mod synchronisation;
pub(crate) mod tickets;
pub(crate) mod timeline;
