"""The module as its users have it; `scripts/python.sh` runs this."""

import json
import threading
import time
from pathlib import Path

import pytest
import volta

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(name, computes, params=("u64 x", "u64 y")):
    """PTX of a kernel in which each thread loads a float of x, computes, and stores it in y."""
    params = ", ".join(f".param .{param}" for param in params)
    return f"""{HEADER}
.visible .entry {name}({params})
{{
    .reg .b32 %r; .reg .f32 %f; .reg .b64 %x, %y, %at;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mov.u32 %r, %tid.x;
    mul.wide.u32 %at, %r, 4;
    add.s64 %x, %x, %at;
    add.s64 %y, %y, %at;
    ld.global.f32 %f, [%x];
    {computes}
    st.global.f32 [%y], %f;
    ret;
}}
"""


TWICE = kernel("twice", "add.f32 %f, %f, %f;")
DOUBLE = kernel("double", "mul.f32 %f, %f, 0f40000000;")
TRIPLE = kernel("triple", "mul.f32 %f, %f, 0f40400000;")
ONE_PLACE = kernel("one_place", "sub.s64 %y, %y, %at;")


def floats(role, *shape):
    return {"role": role, "type": "f32", "shape": shape}


PARAMS = {"x": floats("in", 64), "y": floats("out", 64)}


def test_a_proof_says_what_it_rests_on():
    answer = volta.check(volta.Kernel(DOUBLE, block=64), volta.Kernel(TWICE, block=(64, 1)), params=PARAMS, name="by_two")
    assert (answer.verdict, answer.reason, answer.data["name"]) == ("equivalent", "equivalent", "by_two")
    assert any("real numbers" in assumed for assumed in answer.assuming)
    assert answer.data["elements_compared"] == 64
    assert "equivalent: opt.ptx" in answer.message and str(answer) == answer.message
    assert volta.check(volta.Kernel(TWICE, block=64), params=PARAMS).verdict == "clean"


def test_what_differs_fails_with_the_whole_message():
    sides = {"opt": volta.Kernel(TRIPLE, block=64), "reference": volta.Kernel(TWICE, block=64)}
    answer = volta.check(**sides, params=PARAMS)
    assert (answer.verdict, answer.reason) == ("different", "values-differ")
    with pytest.raises(AssertionError) as failed:
        volta.assert_equivalent(**sides, params=PARAMS)
    said = str(failed.value)
    assert said.startswith("failed: expected equivalent, got different\n\ndifferent: the kernels compute different values")
    untimed = [line for line in answer.message.splitlines() if " in 0." not in line]
    assert all(line in said for line in untimed)


def test_a_race_fails():
    with pytest.raises(AssertionError, match=r"expected clean, got race\n\nerror\[Y1\]: race"):
        volta.assert_clean(volta.Kernel(ONE_PLACE, block=64), params=PARAMS)
    assert volta.assert_clean(volta.Kernel(ONE_PLACE, block=1), params={"x": floats("in", 1), "y": floats("out", 1)})


def test_wrong_input_is_an_error_with_its_place():
    with pytest.raises(volta.InputError, match="unknown key `rolle`") as raised:
        volta.check(volta.Kernel(TWICE, block=64), params={"x": {"rolle": "in", "type": "f32", "shape": [64]}})
    assert "unknown-key" in [problem["reason"] for problem in raised.value.problems]
    with pytest.raises(volta.InputError) as raised:
        volta.check(volta.Kernel(TWICE.replace("ret;", "ret"), block=64), params=PARAMS)
    assert raised.value.problems[0]["reason"] == "invalid-ptx"
    assert raised.value.problems[0]["line"] == TWICE.count("\n")
    with pytest.raises(volta.InputError, match="no kernel"):
        volta.check(volta.Kernel(TWICE, name="thrice", block=64), params=PARAMS)
    with pytest.raises(TypeError, match="needs a block"):
        volta.check(volta.Kernel(TWICE), params=PARAMS)
    with pytest.raises(TypeError, match="and not a int"):
        volta.check(volta.Kernel(7), params=PARAMS)
    with pytest.raises(FileNotFoundError):
        volta.check(volta.Kernel("nowhere.ptx", block=64), params=PARAMS)
    with pytest.raises(ValueError):
        volta.check(volta.Kernel(TWICE, block=64), params={**PARAMS, "n": {"type": "i32", "value": float("nan")}})


def test_files_options_and_arguments(tmp_path):
    path = tmp_path / "twice.ptx"
    path.write_text(TWICE)
    backwards = kernel("backwards", "add.f32 %f, %f, %f;", params=("u64 y", "u64 x"))
    opt = volta.Kernel(backwards, block=64, args=["y", "x"])
    answer = volta.assert_equivalent(opt, volta.Kernel(path, name="twice", block=64), params=PARAMS)
    assert "twice.ptx::twice" in answer.message
    # Parameters stand in the order of the kernel's.
    swapped = {"y": PARAMS["y"], "x": PARAMS["x"]}
    assert volta.check(volta.Kernel(backwards, block=64), params=swapped).verdict == "clean"
    answer = volta.check(opt, volta.Kernel(str(path), block=64), params=PARAMS, options={"max_instructions": 5})
    assert answer.verdict == "unknown(budget)" and answer.data["hints"]
    part = volta.Kernel(TWICE, block=64, grid=2, more={"ctas": [0]})
    answer = volta.check(part, params=PARAMS)
    assert any("CTA" in assumed for assumed in answer.assuming), answer.assuming


def test_cuda_needs_a_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("VOLTA_NVCC", "off")
    path = tmp_path / "k.cu"
    path.write_text("extern \"C\" __global__ void k(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }")
    with pytest.raises(volta.InputError, match="nvcc") as raised:
        volta.check(volta.Kernel(path, block=64), params=PARAMS)
    assert raised.value.problems[0]["reason"] == "no-compiler"


def test_other_threads_go_on():
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    def seconds_of(rounds):
        again = f"again: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {rounds}; @%p bra again;"
        loop = kernel("loop", f".reg .pred %p; .reg .b32 %i; mov.u32 %i, 0; {again}")
        begin = time.monotonic()
        volta.check(volta.Kernel(loop, block=64), params=PARAMS, options={"max_instructions": 10**12})
        return begin, time.monotonic()

    clock = threading.Thread(target=tick)
    clock.start()
    try:
        # On any machine, one call that lasts some time.
        rounds = 200_000
        begin, end = seconds_of(rounds)
        while end - begin < 0.2:
            rounds *= 2
            begin, end = seconds_of(rounds)
    finally:
        done.set()
        clock.join()
    # A tick before it and one behind it would be all, if the other thread had to wait.
    assert sum(begin < at < end for at in ticks) > 10, end - begin


class Metadata:
    name, num_warps, shared = "twice", 2, 0


class Compiled:
    """What triton.compile returns, as far as it is looked at."""

    def __init__(self, ptx, **metadata):
        self.asm = {"ptx": ptx} if ptx else {"amdgcn": ""}
        self.metadata = type("About", (Metadata,), metadata)()


def test_a_compiled_kernel_brings_its_launch():
    scratch = kernel("twice", "add.f32 %f, %f, %f;", params=("u64 x", "u64 y", "u64 s", "u64 p"))
    answer = volta.assert_equivalent(volta.Kernel(Compiled(scratch)), volta.Kernel(TWICE, block=64), params=PARAMS)
    assert answer.data["thread_instructions"] > 64
    with pytest.raises(TypeError, match="global_scratch_size"):
        volta.check(volta.Kernel(Compiled(scratch, global_scratch_size=128)), params=PARAMS)
    with pytest.raises(volta.InputError, match="4 parameters, .* and 1 arguments"):
        volta.check(volta.Kernel(Compiled(scratch), args=["x"]), params=PARAMS)
    with pytest.raises(TypeError, match="it has amdgcn"):
        volta.check(volta.Kernel(Compiled(None)), params=PARAMS)


def test_triton():
    """A softmax that subtracts the maximum, against one that does not, as Triton compiles them for a GPU that is not here."""
    triton = pytest.importorskip("triton")
    from triton.backends.compiler import GPUTarget
    from triton_kernels import softmax, softmax_without_max

    signature = {"x": "*fp32", "y": "*fp32", "width": "constexpr"}

    def compiled(function):
        source = triton.compiler.ASTSource(function, signature=signature, constexprs={"width": 128})
        return triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_warps": 1})

    params = {"x": floats("in", 4, 128), "y": floats("out", 4, 128)}
    opt = volta.Kernel(compiled(softmax), grid=4)
    answer = volta.assert_equivalent(opt, volta.Kernel(compiled(softmax_without_max), grid=4), params=params)
    assert answer.data["elements_compared"] == 512
    with pytest.raises(AssertionError, match="out-of-bounds in kernel.ptx::softmax: reads element 512"):
        volta.assert_clean(volta.Kernel(compiled(softmax), grid=5), params=params)


def test_a_graph_is_a_reference():
    graph = {"nodes": [{"name": "t", "op": "aten.mul.Scalar", "self": "x", "other": 2}], "outputs": {"y": "t"}}
    reference = volta.torch.Reference({key: {**value, "shape": [64]} for key, value in PARAMS.items()}, graph)
    volta.assert_equivalent(volta.Kernel(TWICE, block=64), reference)
    wrong = volta.torch.Reference(reference.params, {**graph, "nodes": [{**graph["nodes"][0], "op": "relo"}]})
    with pytest.raises(volta.InputError, match="no operator `relo`; did you mean `relu`"):
        volta.check(volta.Kernel(TWICE, block=64), wrong)


def test_torch():
    """Modules against kernels that compute them, or something else."""
    torch = pytest.importorskip("torch")

    class Doubled(torch.nn.Module):
        def forward(self, x):
            return x + x

    twice = volta.torch.reference(Doubled(), (torch.empty(64),))
    assert list(twice.params) == ["x", "output"]
    volta.assert_equivalent(volta.Kernel(TWICE, block=64), twice)
    relu = volta.torch.reference(torch.nn.ReLU(), (torch.empty(64),))
    assert volta.check(volta.Kernel(TWICE, block=64), relu).verdict == "different"
    norm = volta.torch.reference(torch.nn.LayerNorm(8), (torch.empty(4, 8),))
    assert list(norm.params) == ["weight", "bias", "input", "output"]
    with pytest.raises(ValueError, match="complex64"):
        volta.torch.reference(Doubled(), (torch.empty(64, dtype=torch.complex64),))


def test_the_answer_is_the_program_s():
    case = {"params": {key: {**value, "shape": [64]} for key, value in PARAMS.items()}, "sources": {"k.ptx": TWICE}}
    line, message = volta._volta.answer(json.dumps({**case, "kernel": {"source": "k.ptx", "block": 64}}))
    schema = json.loads((Path(__file__).parents[2] / "docs/check.schema.json").read_text())
    assert set(schema["required"]) <= set(json.loads(line)) <= set(schema["properties"])
    assert message.startswith("clean: ")
