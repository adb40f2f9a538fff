//! The verifier against the exhaustive explorer (rule Y8).

mod atomics;
mod check;
mod clusters;
mod conditions;
mod copies;
mod directed;
mod survey;
mod words;
