"""What `volta judge` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .judge import CannotJudge, Judgement, Trial

_KINDS = {
    "own": "what divides the module's own sizes divides these",
    "tail": "sizes that leave a rest",
    "small": "fewer elements than threads",
    "given": "as given",
}


def text(judgement: Judgement, verbose: bool = False) -> str:
    """For people."""
    decided = f"{judgement.verdict}: {judgement.candidate} against {judgement.module}"
    lines = [decided]
    if judgement.own:
        lines.append(f"  in the file: {_spelled(judgement.own)}")
    for trial in judgement.trials:
        shapes = ", ".join(f"{name} {list(shape)}" for name, shape in trial.inputs.items())
        changed = {name: size for name, size in trial.sizes.items() if size != judgement.own.get(name)}
        lines.append(f"  {trial.verdict} at {_spelled(changed) or 'these sizes'} ({_KINDS[trial.kind]})")
        lines += [f"    {line}" for line in (f"inputs: {shapes}", *(f"launch: {one}" for one in trial.launches)) if line[8:]]
        lines += [f"    note: {note}" for note in trial.notes]
    lines += [f"  note: {note}" for note in judgement.notes]
    bad = judgement.bad
    if bad is not None:
        own = [trial for trial in judgement.trials if trial.kind == "own"]
        if bad.kind in ("tail", "small") and own and all(trial.verdict == "equivalent" for trial in own):
            lines.append("  only where sizes leave a rest: at sizes divided like the module's own it is equivalent")
    shown = [trial for trial in judgement.trials if verbose or trial is bad]
    body = "\n".join(lines) + "\n"
    for trial in shown:
        body += f"\nat {_spelled(trial.sizes) or 'the sizes of the file'}:\n{trial.message}"
    return body


def _spelled(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def lines(judgement: Judgement) -> Iterator[dict[str, Any]]:
    """For programs: an object for each size, with the keys of `cargo volta check --format json` and some more."""
    for trial in judgement.trials:
        data = dict(trial.answer.data) if trial.answer is not None else _bare(trial)
        data["judged"] = {
            "module": judgement.module, "candidate": judgement.candidate, "kind": trial.kind, "sizes": dict(trial.sizes),
            "own_sizes": dict(judgement.own), "inputs": {name: list(shape) for name, shape in trial.inputs.items()},
            "launches": list(trial.launches), "notes": [*trial.notes, *judgement.notes],
        }  # fmt: skip
        yield data


def _bare(trial: Trial) -> dict[str, Any]:
    outcome = "could-not-run" if trial.verdict == "refused" else "failed"
    return {"version": 1, "outcome": outcome, "verdict": trial.verdict, "reason": trial.reason, "message": trial.message}


def could_not(candidate: Path, error: CannotJudge) -> dict[str, Any]:
    problem = {"reason": error.reason, "message": error.message, "help": error.help}
    return {
        "version": 1, "name": f"judge::{candidate.stem}", "outcome": "could-not-run", "verdict": "input-error",
        "reason": error.reason, "problems": [problem],
    }  # fmt: skip


def write(judgement: Judgement, folder: Path) -> None:
    """Writes each case as a document, `NAME.json`, for `cargo volta check --stdin <NAME.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    for trial in judgement.trials:
        if trial.case is not None:
            name = "_".join(f"{key}_{size}" for key, size in trial.sizes.items()) or "case"
            safe = "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in name)
            (folder / f"{trial.kind}_{safe}.json").write_text(json.dumps(trial.case, indent=1) + "\n", encoding="utf-8")
