//! Loops that wait for a flag in rounds of a barrier (rule Y15). One round is executed: the thread that loads the flag
//! waits until it asks for no further round, and the others wait for it at the barrier. That this is equivalent to all
//! rounds is checked when they meet.

use crate::base::lane::Lane;
use crate::concurrency::barrier_arrivals::Arrival;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::machine::sync::flag_condition::polls_in_rounds;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{FlagRounds, InstId, PredSrc};
use crate::value::{Origin, Truth};
use crate::verdict::FaultKind;

impl Synchronisation<'_> {
    /// Threads meet at a reduction. If one of them has waited for a flag in rounds of it, all others must have asked
    /// for another round each time, and have done nothing else.
    pub(super) fn end_rounds(&mut self, warps: &[Warp], arrivals: &[Arrival]) -> Result<(), Stop> {
        if self.flags.rounds.is_empty() {
            return Ok(());
        }
        let lanes = || {
            arrivals.iter().flat_map(|arrival| {
                let warp = &warps[arrival.warp];
                warp.at_barrier.iter().map(move |lane| (warp, lane))
            })
        };
        let thread = |(warp, lane): (&Warp, Lane)| warp.thread(lane) as usize;
        let waited = lanes().find_map(|(warp, lane)| {
            let load = self.flags.rounds.get(&thread((warp, lane)))?;
            Some((warp, lane, *load))
        });
        let Some((waiter, first, load)) = waited else { return Ok(()) };
        self.flags.rounds.remove(&thread((waiter, first)));
        let looped = self.context.launch.program.flag_loop(load);
        let rounds = looped.and_then(|looped| looped.rounds);
        let rounds = rounds.ok_or(Stop::Defect("a thread has waited in rounds of a loop without rounds"))?;
        if polls_in_rounds(self.context.launch.program, &rounds, (waiter, first)) != Some(true) {
            return Err(self.context.other_rounds(waiter, first, load));
        }
        for (warp, lane) in lanes().filter(|other| thread(*other) != thread((waiter, first))) {
            let is_there = warp.pc[lane] == waiter.pc[first];
            let waits = polls_in_rounds(self.context.launch.program, &rounds, (warp, lane)) == Some(false);
            if !(is_there && waits && asks(&rounds, warp, lane)) {
                return Err(self.context.other_rounds(warp, lane, load));
            }
        }
        Ok(())
    }

    /// Whether a lane asks for another round because nothing is known of what its load ahead of the rounds has found: once,
    /// since the next round follows its wait in the loop.
    pub(super) fn asks_ahead(
        &mut self,
        warp: &Warp,
        lane: Lane,
        (barrier, source): (InstId, PredSrc),
    ) -> Result<bool, Stop> {
        let asked = warp.predicates[source.pred.index()].get(lane);
        let Some(ahead) = self.flags.ahead.get_mut(&(warp.thread(lane) as usize)) else { return Ok(false) };
        let looped = self.context.launch.program.flag_loop(ahead.load);
        let is_of_loop = looped.is_some_and(|looped| {
            looped.exit == barrier && looped.rounds.is_some_and(|rounds| rounds.asks == source)
        });
        if !is_of_loop || asked != Truth::Undefined(Origin::Unpredictable(ahead.pc)) {
            return Ok(false);
        }
        if std::mem::replace(&mut ahead.has_asked, true) {
            let load = ahead.load;
            return Err(self.context.other_rounds(warp, lane, load));
        }
        Ok(true)
    }
}

impl ValueTerms<'_> {
    /// No thread can proceed. If a thread waits for a flag in rounds and another one has asked for no further round,
    /// the rounds are over, and the wait is unsupported.
    pub(crate) fn rounds_are_over(&self, warps: &[Warp]) -> Result<(), Stop> {
        for warp in warps {
            for lane in warp.at_phase.iter().filter(|lane| self.flag_waited_for(warp, *lane).is_some()) {
                let load = warp.pc[lane];
                let Some(looped) = self.context.launch.program.flag_loop(load) else { continue };
                let Some(rounds) = looped.rounds else { continue };
                for other in warps.iter().filter(|other| other.rank == warp.rank) {
                    let goes_on = |at: &Lane| other.pc[*at] == looped.exit && asks(&rounds, other, *at);
                    if let Some(at) = other.at_barrier.iter().find(|at| !goes_on(at)) {
                        return Err(self.context.other_rounds(other, at, load));
                    }
                }
            }
        }
        Ok(())
    }
}

impl Context<'_> {
    #[cold]
    fn other_rounds(&self, warp: &Warp, lane: Lane, load: InstId) -> Stop {
        let message =
            "a loop waits for a flag in rounds of a barrier, and a thread other than the one that loads the \
                       flag may end the rounds"
                .to_string();
        let sites = vec![
            self.site("meets the others".into(), warp, lane, warp.pc[lane]),
            self.site("loads the flag".into(), warp, lane, load),
        ];
        let help = "let one thread load the flag: `while (__syncthreads_and(state != status))`, where all others have \
                    another `state`";
        self.fault_at(FaultKind::Unsupported, "Y15", message, sites, Some(help.into()))
    }
}

/// Whether a lane at the barrier of rounds asks for another one.
fn asks(rounds: &FlagRounds, warp: &Warp, lane: Lane) -> bool {
    match warp.predicates[rounds.asks.pred.index()].get(lane) {
        Truth::Known(holds) => holds != rounds.asks.negated,
        Truth::Condition(_) | Truth::Undefined(_) | Truth::Answer(_) => false,
    }
}
