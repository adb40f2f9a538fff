//! machine/exec/wait

pub(crate) mod barrier;
pub(crate) mod bulk_copy;
pub(crate) mod cluster_barrier;
pub(crate) mod flag_loop;
pub(crate) mod flag_rounds;
pub(crate) mod lock;
pub(crate) mod mbarrier;
pub(crate) mod queue_items;
pub(crate) mod register_set;
pub(crate) mod test_result;
pub(crate) mod thread_copy;
pub(crate) mod ticket_draw;
pub(crate) mod tile_copy;
