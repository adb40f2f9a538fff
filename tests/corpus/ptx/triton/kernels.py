# Makes the Triton part of the corpus: run in an empty folder, with Triton installed; no GPU is needed.
import triton, triton.language as tl
from triton.compiler import ASTSource
from triton.backends.compiler import GPUTarget

@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + c, e / tl.sum(e, 0), mask=c < n)

@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for s in range(0, K, BK):
        p = tl.load(a + m[:, None] * K + (s + k)[None, :])
        q = tl.load(b + (s + k)[:, None] * N + n[None, :])
        acc += tl.dot(p, q)
    tl.store(c + m[:, None] * N + n[None, :], acc)

def emit(fn, sig, consts, cc, name):
    src = ASTSource(fn=fn, signature=sig, constexprs=consts)
    k = triton.compile(src, target=GPUTarget('cuda', cc, 32))
    open(name + '.ptx', 'w').write(k.asm['ptx'])
for cc in (80, 90):
    emit(softmax, {'x':'*fp32','y':'*fp32','n':'i32','B':'constexpr'}, {'B':1024}, cc, f'triton_softmax_sm{cc}')
    emit(matmul, {'a':'*fp16','b':'*fp16','c':'*fp32','M':'i32','N':'i32','K':'i32','BM':'constexpr','BN':'constexpr','BK':'constexpr'}, {'BM':64,'BN':64,'BK':32}, cc, f'triton_matmul_sm{cc}')
