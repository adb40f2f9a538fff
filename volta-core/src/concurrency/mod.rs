//! What comes before what, as pure data: agents, clocks, barriers and their phases, flags, operations in flight, and the two
//! race detectors (rules Y1, Y2, Y9, Y15).
//!
//! Threads, cells and instructions are numbers here. What operations do to these data, and what a conflict is told as, is
//! decided by the [machine](crate::machine); a launch, registers and the contents of memory are not known.

pub(crate) mod agent;
pub(crate) mod barrier_arrivals;
pub(crate) mod clock;
pub(crate) mod copies_in_flight;
pub(crate) mod epoch;
pub(crate) mod flag_changes;
pub(crate) mod history;
pub(crate) mod mbarrier_phases;
pub(crate) mod order;
pub(crate) mod phase_history;
pub(crate) mod products_in_flight;
pub(crate) mod race;
pub(crate) mod shadow;
