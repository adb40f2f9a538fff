//! What threads wait for, and what completes while they do not: barriers of warps, CTAs and clusters (Y3, Y4, Y13), mbarriers
//! (Y9), flags (Y15), tickets, locks and queues of work (Y18), register pools (Y16), and asynchronous copies (Y6, Y11).
//!
//! These operations change the state of [`sync`](super::super::sync). Which thread runs next is decided above.

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
