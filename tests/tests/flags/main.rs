//! The verifier against every run of small programs that wait for flags (rule Y15), or take items of work (Y18).

mod check;
mod emit;
mod explore;
mod generate;
mod model;
mod queues;
