//! Warps give registers back, and take them.

use crate::base::assumption::Assumption;
use crate::base::lane::LaneMask;
use crate::machine::cta::Cta;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::InstId;
use crate::verdict::FaultKind;

impl Cta<'_> {
    /// Lanes of a warp reach `setmaxnreg`, with the number of registers, and whether they are taken. Returns the lanes
    /// that continue.
    pub(crate) fn set_registers(
        &mut self,
        warp: &mut Warp,
        group: LaneMask,
        pc: InstId,
        (count, takes): (u32, bool),
    ) -> Result<LaneMask, Stop> {
        self.accesses().exact()?;
        if group != warp.live() {
            return Ok(LaneMask::NONE);
        }
        self.sync.check_warpgroup(warp, pc)?;
        let own = warp.index;
        let more = match self.sync.pools.at_launch {
            None => {
                let text = "nothing bounds the registers of a thread (`.maxnreg`, `.maxntid`), and `setmaxnreg` has \
                            no effect (Y16)";
                self.values.terms.relied.others.insert(Assumption::relied(text));
                0
            }
            Some(at_launch) => {
                let why =
                    if at_launch.is_stated { "`.maxnreg`" } else { "what the bounds on its launch allow" };
                let text = format!("a thread has {} registers at launch: {why} (Y16)", at_launch.registers);
                self.values.terms.relied.others.insert(Assumption::relied(text));
                let held = self.sync.pools.held(own, at_launch);
                // The number at launch may be less than what is allowed.
                let may_be_less = self.sync.pools.warps[own].held.is_none() && !at_launch.is_stated;
                if takes && count < held && !may_be_less || !takes && count > held {
                    let (word, than) = if takes { ("inc", "less") } else { ("dec", "more") };
                    let message = format!(
                        "`setmaxnreg.{word}` to {count} registers a thread, which is {than} than the {held} that the \
                         warp has"
                    );
                    let (kind, lane) = (FaultKind::BarrierMisuse, group.first());
                    return Err(self.context.fault(kind, "Y16", message, warp, lane, pc));
                }
                let more = i64::from(count.max(if takes { held } else { count })) - i64::from(held);
                self.sync.pools.warps[own].held = match more {
                    more if more > self.sync.pools.ctas[warp.rank as usize].free as i64 => {
                        return Ok(LaneMask::NONE);
                    }
                    more => Some((i64::from(held) + more) as u32),
                };
                more
            }
        };
        let exact = self.sync.order.exact_mut()?;
        let (clocks, first) = (&mut exact.clocks, warp.thread(group.first()) as usize);
        let stamp = clocks.now(first);
        let pool = &mut self.sync.pools.ctas[warp.rank as usize];
        let each = self.context.launch.warps();
        if more > 0 {
            pool.free -= more as u64;
            pool.taken += more as u64;
            pool.taker.get_or_insert((first as u32, pc));
            self.sync.pools.warps[own].took.get_or_insert(stamp);
        } else {
            pool.free += more.unsigned_abs();
            let of_cta = each * warp.rank as usize..each * (warp.rank as usize + 1);
            let knows = |other: usize, took: u32| {
                group.iter().any(|lane| clocks.is_past(warp.thread(lane) as usize, 32 * other, took))
            };
            let mut took = of_cta.filter_map(|other| Some((other, self.sync.pools.warps[other].took?)));
            let waited = took.any(|(other, took)| knows(other, took));
            pool.given += if waited { 0 } else { more.unsigned_abs() };
        }
        self.sync.pools.warps[own].done.push((pc, stamp));
        let threads: Vec<usize> = group.iter().map(|lane| warp.thread(lane) as usize).collect();
        threads.iter().for_each(|thread| clocks.release(*thread));
        clocks.meet_in_time(&threads);
        warp.meet(group);
        Ok(group)
    }
}

impl Synchronisation<'_> {
    /// Checks that the warps of a warpgroup execute the same instructions, and have synchronised since the last one.
    fn check_warpgroup(&self, warp: &Warp, pc: InstId) -> Result<(), Stop> {
        let exact = self.order.exact()?;
        let turn = self.pools.warps[warp.index].done.len();
        for other in self.context.warpgroup(warp.index).filter(|other| *other != warp.index) {
            let done = &self.pools.warps[other].done;
            let (thread, lane) = (32 * other, warp.live().first());
            if let Some((there, _)) = done.get(turn)
                && *there != pc
            {
                return Err(self.context.apart(&[(32 * other as u32, *there), (warp.thread(lane), pc)]));
            }
            let Some(before) = turn.checked_sub(1) else { continue };
            let met = done.get(before).is_some_and(|(_, stamp)| {
                warp.live()
                    .iter()
                    .any(|lane| exact.clocks.is_past(warp.thread(lane) as usize, thread, *stamp))
            });
            if !met {
                let message = "the warps of a warpgroup have not synchronised since their last `setmaxnreg`";
                let (last, _) = self.pools.warps[warp.index].done[before];
                let sites = vec![
                    self.context.site("executes the last one".into(), warp, lane, last),
                    self.context.site("executes the next".into(), warp, lane, pc),
                ];
                let help =
                    "let the four warps meet at a barrier between the two (`bar.sync` with a count of 128)";
                let (kind, help) = (FaultKind::BarrierMisuse, Some(help.into()));
                return Err(self.context.fault_at(kind, "Y16", message.into(), sites, help));
            }
        }
        Ok(())
    }

    /// Checks at the end of the run that all warps of a group have executed the same, and that all requests are met
    /// under every schedule.
    pub(crate) fn end_registers(&self) -> Result<(), Stop> {
        for (own, owner) in self.pools.warps.iter().enumerate() {
            let next = self
                .context
                .warpgroup(own)
                .find(|other| self.pools.warps[*other].done.len() < owner.done.len());
            if let Some(other) = next
                && let Some((pc, _)) = owner.done.get(self.pools.warps[other].done.len())
            {
                return Err(self.context.apart(&[(32 * own as u32, *pc)]));
            }
        }
        let unclear = self.pools.ctas.iter().filter(|pool| pool.taken > pool.given);
        let Some((thread, pc)) = unclear.filter_map(|pool| pool.taker).next() else { return Ok(()) };
        let message = "whether all requests for registers are met may depend on the schedule: they need registers that \
                       are given back only after others have been taken";
        let sites = vec![self.context.site_of_thread("takes registers".into(), thread, pc)];
        Err(self.context.fault_at(FaultKind::Unsupported, "Y16", message.into(), sites, None))
    }

    /// The words for a warp that waits for registers: how many, and who holds them.
    pub(crate) fn registers_waited_for(&self, warp: &Warp, count: u32) -> String {
        let Some(at_launch) = self.pools.at_launch else { return "for registers".into() };
        let own = self.pools.held(warp.index, at_launch);
        let each = self.context.launch.warps();
        let mut holders: Vec<(usize, usize, u32)> = Vec::new();
        for number in 0..each {
            let held = self.pools.held(each * warp.rank as usize + number, at_launch);
            match holders.last_mut() {
                Some((_, last, same)) if *same == held => *last = number,
                Some(_) | None => holders.push((number, number, held)),
            }
        }
        let holders: Vec<String> = holders
            .iter()
            .map(|(first, last, held)| match first == last {
                true => format!("warp {first} holds {held}"),
                false => format!("warps {first} to {last} hold {held}"),
            })
            .collect();
        format!(
            "for {} registers a thread more, from {own} to {count}; the pool has {}, and of the registers a thread {}",
            count.saturating_sub(own),
            self.pools.ctas[warp.rank as usize].free,
            holders.join(", ")
        )
    }
}
