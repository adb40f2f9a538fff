//! concurrency

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
