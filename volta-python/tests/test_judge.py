"""`volta judge`: the modules in `judged` are judged right.

Without PyTorch or nvcc, from what `freeze.py` wrote; with both, anew, for those in `VOLTA_JUDGED` (`all`, or names).
"""

import json
import os
from pathlib import Path

import pytest
import volta
from volta import _nvcc
from volta._cuda import NotUnderstood, parse
from volta._host import Dim3, Host

JUDGED = Path(__file__).parent / "judged"
NAMES = sorted(path.parent.name for path in JUDGED.glob("*/expected.json"))


def expected(name):
    return json.loads((JUDGED / name / "expected.json").read_text(encoding="utf-8"))


def document(name, case):
    """A case with the texts of its sources."""
    sources = {}
    for file, text in case["sources"].items():
        if "file" in text:
            sources[file] = (JUDGED / name / text["file"]).read_text(encoding="utf-8")
        else:
            sources[file] = json.dumps(text)
    return {**case, "sources": sources}


def verdicts(wanted):
    return wanted.split("|")


def test_there_are_thirty():
    assert len(NAMES) >= 30


@pytest.mark.parametrize("name", NAMES)
def test_checked_in_cases(name):
    """Each case has its verdict, and the worst of them is that of the module."""
    wanted = expected(name)
    file = JUDGED / name / "cases.json"
    if wanted["verdict"] == "not-launched":
        assert not file.exists()
        return
    cases = json.loads(file.read_text(encoding="utf-8"))
    assert cases
    bad = [one for one in cases if one["verdict"] != "equivalent"]
    if wanted["verdict"] == "equivalent":
        assert not bad
    else:
        assert bad and bad[0]["verdict"] in verdicts(wanted["verdict"])
        assert bad[0]["kind"] == wanted.get("first", bad[0]["kind"])
    for one in cases:
        case = document(name, one["case"])
        case["options"] = {**case.get("options", {}), "timeout": "300s"}
        answer = volta._answered(case)
        assert answer.verdict == one["verdict"], f"{one['sizes']}\n{answer.message}"


def compiler():
    try:
        return _nvcc.find() is not None
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("name", NAMES)
def test_judged_anew(name):
    """What is made of a module today is what is checked in."""
    pytest.importorskip("torch")
    if not compiler():
        pytest.skip("there is no nvcc")
    wished = os.environ.get("VOLTA_JUDGED", "softmax_rows relu_by_fours linear_fused fallback_build mean_rows")
    if wished != "all" and name not in wished.split():
        pytest.skip("VOLTA_JUDGED=all judges it")
    from freeze import judged

    wanted = expected(name)
    judgement, cases, _ = judged(JUDGED / name)
    assert judgement.verdict in verdicts(wanted["verdict"]), judgement.bad
    if "says" in wanted:
        assert wanted["says"] in judgement.bad.message
    if cases:
        known = json.loads((JUDGED / name / "cases.json").read_text(encoding="utf-8"))
        assert [(one["kind"], one["sizes"], one["verdict"]) for one in cases] == [
            (one["kind"], one["sizes"], one["verdict"]) for one in known
        ]
        assert [one["case"]["params"] for one in cases] == [one["case"]["params"] for one in known]
        assert [one["case"]["opt"] for one in cases] == [one["case"]["opt"] for one in known]


class Events:
    """What a host tells."""

    def __init__(self):
        self.launches, self.notes = [], []

    def launch(self, launched):
        self.launches.append(launched)

    def note(self, text):
        self.notes.append(text)

    def refused(self, text):
        self.notes.append(text)


HOST = """
#define CEIL(a, b) (((a) + (b) - 1) / (b))
constexpr int WIDE = 4 * 32;
namespace {
template <typename T, int N>
__global__ void k(const T *__restrict__ x, float *y, int n, float scale = 1.0f) { }
}
static int twice(int a) { return 2 * a; }
__device__ float helper(float a) { return a > 0 ? a : -a; }
void run(int n)
{
    dim3 grid(CEIL(n, WIDE), 2);
    int rest = n % WIDE, blocks = 0;
    for (int i = 0; i < 3; i++) {
        if (i == 1) continue;
        blocks += twice(i) + 1;
    }
    while (blocks > 6) --blocks;
    k<float, WIDE / 2><<<grid, dim3(blocks, (rest > 0) ? 3 : 1), n >> 2>>>(nullptr, nullptr, -7 / 2, 1.0f / 3);
}
"""


def test_host_code():
    source = parse(HOST, "k.cu")
    assert set(source.kernels) == {"k"} and set(source.hosts) == {"twice", "run"}
    device = source.device_text()
    assert "helper" in device and "void run" not in device and device.count("\n") == HOST.count("\n")
    events = Events()
    Host(source, None, events).call("run", [257])
    (launched,) = events.launches
    assert (launched.grid, launched.block, launched.shared) == (Dim3(3, 2), Dim3(6, 3), 64)
    assert launched.template == ("float", 64) and launched.args[2] == -3
    assert launched.args[3] * 3 == 1


@pytest.mark.parametrize(
    ("code", "says", "line"),
    [
        ("k<<<1, 32>>>(x, y);\n", "`x` is not known", 3),
        ("int n = 4;\nunknown_call(n);", "the function `unknown_call` is not understood", 4),
        ("\n\nauto f = [&](int a) { return a; };", "lambdas", 5),
        ("missing<<<1, 32>>>();", "is no kernel of this file", 3),
        ("for (;;) { }", "runs for too long", 3),
    ],
)
def test_what_is_not_understood_has_a_line(code, says, line):
    source = parse(f"__global__ void k(const float *x, float *y) {{ }}\nvoid run() {{\n{code} }}\n", "k.cu")
    with pytest.raises(NotUnderstood) as raised:
        Host(source, None, Events()).call("run", [])
    assert says in raised.value.message and raised.value.line == line


def test_a_module_and_a_kernel():
    torch = pytest.importorskip("torch")
    if not compiler():
        pytest.skip("there is no nvcc")
    kernel = """
        extern "C" __global__ void scaled(const float *x, float *y, int n)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n)
                y[i] = fmaxf(x[i], 0.0f);
        }
    """
    launch = {"grid": 2, "block": 64, "args": ["input", "output", 100]}
    answer = volta.check(torch.nn.ReLU(), inputs=(torch.empty(100),), kernel=kernel, launch=launch)
    assert answer.verdict == "equivalent", answer.message
    launch["args"][2] = 99
    assert volta.check(torch.nn.ReLU(), inputs=(torch.empty(100),), kernel=kernel, launch=launch).verdict == "different"
    steps = volta.Steps([volta.Kernel(kernel, **launch), {"fill": "output", "with": 0}])
    answer = volta.check(torch.nn.ReLU(), inputs=(torch.empty(100),), kernel=steps)
    assert answer.verdict == "different"
    with pytest.raises(TypeError, match="a PyTorch module with `kernel`"):
        volta.check(torch.nn.ReLU(), inputs=(torch.empty(100),))


def test_cuda_as_text_needs_a_compiler(monkeypatch):
    monkeypatch.setenv("VOLTA_NVCC", "off")
    cuda = 'extern "C" __global__ void k(float *y)\n{\n}\n'
    with pytest.raises(volta.InputError, match="there is no nvcc here"):
        volta.check(volta.Kernel(cuda, block=32), params={"y": {"role": "out", "type": "f32", "shape": [1]}})


LAUNCHES = """
[outputs]
y = { shape = ["x.size(0)", "x.size(1)"] }

[[launch]]
kernel = "swish_strided"
grid = "(x.numel() + THREADS - 1) / THREADS"
block = "THREADS"
args = ["x", "y", "x.numel()"]
"""


def test_the_program(tmp_path, capsys, monkeypatch):
    from volta.__main__ import main

    assert main(["judge", str(tmp_path / "none.py"), str(tmp_path / "none.cu"), "--format", "json"]) == 2
    assert json.loads(capsys.readouterr().out)["verdict"] == "input-error"
    pytest.importorskip("torch")
    if not compiler():
        pytest.skip("there is no nvcc")
    folder = JUDGED / "relu_by_fours"
    arguments = ["judge", str(folder / "module.py"), str(folder / "candidate.cu"), "--size", "batch_size=1,dim=5"]
    assert main([*arguments, "--format", "json", "--output", str(tmp_path / "cases")]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    data = json.loads(line)
    assert data["verdict"] == "different" and data["judged"]["inputs"] == {"x": [1, 5]}
    (case,) = (tmp_path / "cases").iterdir()
    assert volta._answered(json.loads(case.read_text())).verdict == "different"
    assert main([*arguments[:-1], "width=5"]) == 2
    assert "`width` is no integer of module.py" in capsys.readouterr().err

    # Launches by hand, where there is no host function.
    text = (JUDGED / "swish_strided" / "candidate.cu").read_text().split("torch::Tensor forward")[0]
    (tmp_path / "swish.cu").write_text(text)
    arguments = ["judge", str(JUDGED / "swish_strided" / "module.py"), str(tmp_path / "swish.cu"), "--size", "dim=9"]
    assert main(arguments) == 2
    assert "or give the launches in swish.toml" in capsys.readouterr().err
    (tmp_path / "swish.toml").write_text(LAUNCHES)
    assert main(arguments) == 0
    (tmp_path / "swish.toml").write_text(LAUNCHES.replace("THREADS - 1", "THREDS - 1"))
    assert main(arguments) == 2
    assert "`THREDS` is not known" in capsys.readouterr().err
