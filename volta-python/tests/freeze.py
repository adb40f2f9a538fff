"""Writes what `volta judge` makes of the modules in `judged`, for machines without PyTorch or a compiler.

    python volta-python/tests/freeze.py [NAME ...]

`NAME/cases.json` has the cases with their graphs and verdicts, `NAME/*.ptx` the kernels. `test_judge.py` judges them
from these files, and compares them with what it makes anew where it can.
"""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "judged"


def candidate(folder):
    return next(path for path in sorted(folder.glob("candidate.*")) if path.suffix in (".cu", ".py"))


def judged(folder):
    """The judgement of a folder, with its cases as they are written."""
    import volta.judge

    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    judgement = volta.judge.judge(folder / "module.py", candidate(folder), evaluate=expected.get("eval", False))
    texts, cases = {}, []
    for trial in judgement.trials:
        if trial.case is None:
            continue
        case = json.loads(json.dumps(trial.case))
        for name, text in list(case["sources"].items()):
            if name.endswith(".ptx"):
                # The same kernels at all sizes are one file.
                at = 1
                file = name
                while texts.setdefault(file, text) != text:
                    at += 1
                    file = f"{name.removesuffix('.ptx')}_{at}.ptx"
                case["sources"][name] = {"file": file}
            elif name.endswith(".cu"):
                del case["sources"][name]
            else:
                case["sources"][name] = json.loads(text)
        cases.append({"kind": trial.kind, "sizes": dict(trial.sizes), "verdict": trial.verdict, "case": case})
    return judgement, cases, texts


def main():
    names = sys.argv[1:] or sorted(path.parent.name for path in FOLDER.glob("*/expected.json"))
    for name in names:
        folder = FOLDER / name
        judgement, cases, texts = judged(folder)
        for old in folder.glob("*.ptx"):
            old.unlink()
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        if cases:
            lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
            (folder / "cases.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        print(name, judgement.verdict, flush=True)


if __name__ == "__main__":
    main()
