//! A plain interpreter of PTX: one thread at a time, bytes in memory, IEEE arithmetic.
//!
//! It is an oracle for the verifier, and shares with it only the parser and the data of cases. It has no terms and no
//! idioms, and detects only faults that stop it: an access that is outside of all objects or misaligned, threads that
//! wait forever. A seed determines which thread runs next. Unwritten memory has arbitrary contents, as has what a
//! shuffle reads from a lane that takes no part.
//!
//! [`decode`] resolves names; [`cta`] runs threads and lets them meet; [`warp`] executes collectives. Arithmetic is in
//! [`float`], [`integer`] and [`matrix`]; [`layout`] places the factors of a [`warpgroup`]. [`launch`] runs a side of a
//! case on [`values`] of its parameters; a [`graph`] of operators is a step of one.

pub mod cta;
pub mod decode;
pub mod errors;
pub mod float;
pub mod graph;
pub mod integer;
pub mod launch;
pub mod layout;
pub mod matrix;
pub mod memory;
pub mod op;
mod phase;
pub mod random;
pub mod tensor_map;
pub mod tensor_memory;
pub mod thread;
pub mod values;
pub mod warp;
pub mod warpgroup;

use cta::Cta;
use decode::Program;
use memory::{Object, Objects};
use random::Random;
use std::collections::BTreeMap;
use thread::Launch;

/// A kernel with its launch.
#[derive(Debug)]
pub struct Run<'r> {
    /// The kernel.
    pub program: &'r Program,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads in x, y, z.
    pub block: [u32; 3],
    /// The CTAs of a cluster in x, y, z, if given; they run together.
    pub cluster: Option<[u32; 3]>,
    /// Whether all CTAs run together.
    pub cooperative: bool,
    /// The size of dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// Linear numbers of the CTAs to run.
    pub ctas: &'r [u64],
    /// The kernel's parameter memory.
    pub arguments: &'r [u8],
    /// The most instructions, in all.
    pub budget: u64,
}

impl Run<'_> {
    /// Runs the CTAs on `global` memory, in an order that the seed determines; returns the number of instructions that
    /// all threads executed.
    ///
    /// # Errors
    /// A fault, with its place.
    pub fn execute(&self, global: &mut Objects, seed: u64) -> Result<u64, String> {
        let mut random = Random::new(seed);
        if self.cooperative {
            global.0.push(Object::new(memory::WORKSPACE, vec![0; 64]));
        }
        let Run { program, grid, block, cluster, cooperative, dynamic_shared, .. } = *self;
        let [x, y, _] = grid.map(u64::from);
        let mut clusters: BTreeMap<[u32; 3], Vec<Launch>> = BTreeMap::new();
        for number in self.ctas {
            let cta = [number % x, number / x % y, number / (x * y)].map(|at| at as u32);
            let launch = Launch { grid, block, cluster, cta, window: 0, dynamic_shared };
            let of = |axis| if cooperative { 0 } else { cta[axis] / launch.in_cluster()[axis] };
            let of = std::array::from_fn(of);
            clusters.entry(of).or_default().push(launch);
        }
        let mut waiting: Vec<Vec<Launch>> = clusters.into_values().collect();
        let mut budget = self.budget;
        while !waiting.is_empty() {
            let mut launches = waiting.swap_remove(random.below(waiting.len()));
            launches.sort_by_key(Launch::rank);
            (0..).zip(&mut launches).for_each(|(window, launch)| launch.window = window);
            let first = launches[0].cta;
            let mut cta = Cta::new(program, launches, self.arguments, global, &mut random, budget);
            cta.run().map_err(|error| format!("CTA {first:?}: {error}"))?;
            budget = cta.budget;
        }
        Ok(self.budget - budget)
    }
}
