//! Atomics, asynchronous barriers, other CTAs' memory.

use super::{Row, unsupported};

const SYNC: &str = "Parallel Synchronization and Communication Instructions";
const DATA: &str = "Data Movement and Conversion Instructions";
const CLUSTER: &str = "clusters of several CTAs are not done yet";

pub(super) const ROWS: &[Row] = &[
    unsupported("atom", SYNC, "atomics are not done yet"),
    unsupported("red", SYNC, "atomics are not done yet"),
    unsupported("multimem", DATA, "memory of several GPUs is not done yet"),
    unsupported("mbarrier", SYNC, "asynchronous barriers are not done yet"),
    unsupported("tensormap", SYNC, "tensor maps are not done yet"),
    unsupported("mapa", DATA, CLUSTER),
    unsupported("getctarank", DATA, CLUSTER),
    unsupported("clusterlaunchcontrol", SYNC, CLUSTER),
];
