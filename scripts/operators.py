#!/usr/bin/env python3
"""Writes tests/operators.json: what PyTorch computes for each operator of graphs, on a few small numbers.

Needs PyTorch (any wheel for CPUs): python3 scripts/operators.py
"""

import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F

aten = torch.ops.aten
torch.manual_seed(0)
cases = []


def numbers(*shape, low=-12, high=12, over=4):
    """Distinct-looking quarters, some of them equal and some zero."""
    count = math.prod(shape)
    values = [low + (7 * i * i + 5 * i + 3 * len(cases)) % (high - low + 1) for i in range(count)]
    return (torch.tensor(values, dtype=torch.float64) / over).reshape(shape)


def positive(*shape):
    return numbers(*shape, low=1, high=17)


def whole(*shape, high, low=0):
    return numbers(*shape, low=low, high=high, over=1).to(torch.int64)


def described(tensor):
    # Numbers are computed in f64, and stand for those of f32.
    kind = {torch.float64: "f32", torch.float32: "f32", torch.int64: "i64", torch.int32: "i32", torch.int16: "i16",
            torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool"}[tensor.dtype]
    values = tensor.flatten().tolist()
    shown = [int(v) if kind != "f32" or float(v).is_integer() else v for v in values]
    shown = ["inf" if v == math.inf else "-inf" if v == -math.inf else v for v in shown]
    return {"type": kind, "shape": list(tensor.shape), "values": shown}


def case(op, results, **arguments):
    """`results` is what PyTorch computes of the arguments, some of which are tensors."""
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    tensors, rest = {}, {}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor):
            tensors[name] = described(value)
        elif isinstance(value, list) and value and isinstance(value[0], torch.Tensor):
            names = [f"{name}{i}" for i in range(len(value))]
            tensors.update(zip(names, map(described, value)))
            rest[name] = {"of": names}
        else:
            rest[name] = value
    cases.append({"op": op, "tensors": tensors, "arguments": rest, "results": [described(r) for r in results]})


# Functions of elements.
x = numbers(2, 5)
for name in ("neg abs sign exp exp2 expm1 sin cos tan sinh cosh tanh atan asinh erf floor ceil trunc round sigmoid "
             "square relu").split():
    case(name, getattr(torch, name)(x), self=x)
for name in "silu mish relu6 hardsigmoid hardswish softsign selu".split():
    case(name, getattr(F, name)(x), self=x)
case("logsigmoid", F.logsigmoid(x), self=x)
p = positive(2, 5)
for name in "sqrt rsqrt log log2 log10 log1p reciprocal".split():
    case(name, getattr(torch, name)(p), self=p)
case("acosh", torch.acosh(p + 1), self=p + 1)
case("atanh", torch.atanh(x / 8), self=x / 8)
case("gelu", F.gelu(x), self=x)
case("gelu", F.gelu(x, approximate="tanh"), self=x, approximate="tanh")
case("leaky_relu", F.leaky_relu(x, 0.25), self=x, negative_slope=0.25)
case("prelu", F.prelu(x, torch.tensor([0.5], dtype=torch.float64)), self=x, weight=torch.tensor([0.5], dtype=torch.float64))
case("elu", F.elu(x, 0.5), self=x, alpha=0.5)
case("celu", F.celu(x, 2.0), self=x, alpha=2)
case("softplus", F.softplus(x, 2.0, 4.0), self=x, beta=2, threshold=4)
case("hardtanh", F.hardtanh(x, -1.5, 0.5), self=x, min_val=-1.5, max_val=0.5)
case("hardshrink", F.hardshrink(x, 1.0), self=x, lambd=1)
case("softshrink", F.softshrink(x, 1.0), self=x, lambd=1)
case("threshold", F.threshold(x, 0.5, -7.0), self=x, threshold=0.5, value=-7)
case("clamp", torch.clamp(x, -1, 2), self=x, min=-1, max=2)
case("clamp", torch.clamp(x, max=0.5), self=x, max=0.5)
case("clamp_min", torch.clamp_min(x, 0.25), self=x, min=0.25)
case("clamp_max", torch.clamp_max(x, 0.25), self=x, max=0.25)
y, z = numbers(5), positive(2, 1)
for name in "add sub mul maximum minimum eq ne lt le gt ge".split():
    case(name, getattr(torch, name)(x, y), self=x, other=y)
case("add", torch.add(x, z, alpha=2), self=x, other=z, alpha=2)
case("rsub", torch.rsub(x, 3), self=x, other=3)
case("div", x / z, self=x, other=z)
case("div", torch.div(x, z, rounding_mode="floor"), self=x, other=z, rounding_mode="floor")
case("div", torch.div(x, z, rounding_mode="trunc"), self=x, other=z, rounding_mode="trunc")
case("floor_divide", torch.floor_divide(x, z), self=x, other=z)
case("remainder", torch.remainder(x, z), self=x, other=z)
case("fmod", torch.fmod(x, z), self=x, other=z)
for exponent in (2, 3, -1, 0.5):
    case("pow", torch.pow(p, exponent), self=p, exponent=exponent)
case("pow", torch.pow(p, y), self=p, exponent=y)
n = whole(6, low=-5, high=9)
case("pow", torch.pow(n, 3), self=n, exponent=3)
case("mul", n * n, self=n, other=n)
case("addcmul", torch.addcmul(x, y, z, value=0.5), self=x, tensor1=y, tensor2=z, value=0.5)
case("addcdiv", torch.addcdiv(x, y, z, value=2), self=x, tensor1=y, tensor2=z, value=2)
case("lerp", torch.lerp(x, y.expand(2, 5), 0.25), self=x, end=y, weight=0.25)
a, b = x > 0, numbers(2, 5) > 1
case("logical_not", ~a, self=a)
for name in "logical_and logical_or logical_xor bitwise_and bitwise_or".split():
    case(name, getattr(torch, name)(a, b), self=a, other=b)
case("bitwise_not", ~a, self=a)
case("mul", x * a, self=x, other=a)
case("where", torch.where(a, x, y), condition=a, self=x, other=y)
case("where", torch.where(a, b, ~b), condition=a, self=b, other=~b)
case("masked_fill", x.masked_fill(a, 3), self=x, mask=a, value=3)
case("_to_copy", x.to(torch.int64), self=x, dtype="i64")
case("_to_copy", a.to(torch.float64), self=a, dtype="f32")
case("_to_copy", n.to(torch.bool), self=n, dtype="bool")
case("dropout", F.dropout(x, training=False), self=x)

# Shapes.
t = numbers(2, 3, 4)
case("view", t.view(4, 6), self=t, size=[4, 6])
case("view", t.view(2, -1), self=t, size=[2, -1])
case("flatten", t.flatten(1), self=t, start_dim=1)
case("permute", t.permute(2, 0, 1), self=t, dims=[2, 0, 1])
case("transpose", t.transpose(0, 2), self=t, dim0=0, dim1=2)
case("t", x.t(), self=x)
case("expand", z.expand(3, 2, 4), self=z, size=[3, -1, 4])
case("unsqueeze", x.unsqueeze(1), self=x, dim=1)
case("squeeze", z.squeeze(1), self=z, dim=1)
case("slice", t[:, 1:3], self=t, dim=1, start=1, end=3)
case("slice", t[:, :, 0:4:3], self=t, dim=2, start=0, end=4, step=3)
case("slice", t[:, :, -3:], self=t, dim=2, start=-3, end=9223372036854775807)
case("narrow", t.narrow(2, 1, 2), self=t, dim=2, start=1, length=2)
case("select", t.select(1, -1), self=t, dim=1, index=-1)
case("split_with_sizes", t.split_with_sizes([1, 3], 2), self=t, split_sizes=[1, 3], dim=2)
case("split", t.split(3, 2), self=t, split_size=3, dim=2)
case("chunk", t.chunk(2, 2), self=t, chunks=2, dim=2)
case("unbind", t.unbind(1), self=t, dim=1)
case("cat", torch.cat([x, z, x], 1), tensors=[x, z, x], dim=1)
case("stack", torch.stack([y, 2 * y], 1), tensors=[y, 2 * y], dim=1)
case("repeat", z.repeat(2, 1, 3), self=z, repeats=[2, 1, 3])
case("flip", t.flip(0, 2), self=t, dims=[0, 2])
case("diagonal", t.diagonal(1, 1, 2), self=t, offset=1, dim1=1, dim2=2)
case("constant_pad_nd", F.pad(t, [1, 2, -1, 1], value=0.5), self=t, pad=[1, 2, -1, 1], value=0.5)
case("tril", t.tril(-1), self=t, diagonal=-1)
case("triu", t.triu(1), self=t, diagonal=1)
case("full", torch.full((2, 3), 1.5, dtype=torch.float64), size=[2, 3], fill_value=1.5)
case("full_like", torch.full_like(n, 4), self=n, fill_value=4)
case("zeros_like", torch.zeros_like(x), self=x)
case("ones_like", torch.ones_like(a), self=a)
case("arange", torch.arange(1, 8, 3), start=1, end=8, step=3)

# Reductions and prefixes.
for name in "sum mean amax amin".split():
    case(name, getattr(torch, name)(t, dim=(0, 2)), self=t, dim=[0, 2])
    case(name, getattr(torch, name)(t, dim=(1,), keepdim=True), self=t, dim=[1], keepdim=True)
case("sum", t.sum(), self=t)
case("sum", a.sum(), self=a)
case("sum", n.sum(), self=n)
case("prod", t.prod(1), self=t, dim=1)
case("max", t.max(1), self=t, dim=1)
case("min", t.min(2), self=t, dim=2)
case("max", t.max(), self=t)
case("argmax", t.argmax(1), self=t, dim=1)
case("argmin", t.argmin(1, keepdim=True), self=t, dim=1, keepdim=True)
case("argmax", t.argmax(), self=t)
case("any", a.any(1), self=a, dim=1)
case("all", b.all(1), self=b, dim=1)
case("var", t.var(dim=(1, 2)), self=t, dim=[1, 2])
case("var", t.var(dim=1, correction=0), self=t, dim=[1], correction=0)
case("var_mean", torch.var_mean(t, dim=2, keepdim=True), self=t, dim=[2], keepdim=True)
case("std", t.std(dim=1), self=t, dim=[1])
for order in (1, 2, math.inf):
    spelled = "inf" if order == math.inf else order
    case("linalg_vector_norm", torch.linalg.vector_norm(t, order, dim=1), self=t, ord=spelled, dim=[1])
case("logsumexp", torch.logsumexp(t, 1), self=t, dim=[1])
case("cumsum", t.cumsum(1), self=t, dim=1)
case("cumsum", n.cumsum(0), self=n, dim=0)
case("cumprod", t.cumprod(2), self=t, dim=2)
case("cummax", t.cummax(2).values, self=t, dim=2)
case("cummin", t.cummin(0).values, self=t, dim=0)

# Contractions and convolutions.
m, k = numbers(3, 4), numbers(4, 5)
case("mm", m @ k, self=m, mat2=k)
case("bmm", t @ numbers(2, 4, 3), self=t, mat2=numbers(2, 4, 3))
case("mv", m @ k[:, 0], self=m, vec=k[:, 0].clone())
case("dot", torch.dot(k[:, 0], k[:, 1]), self=k[:, 0].clone(), other=k[:, 1].clone())
case("outer", torch.outer(y, k[:, 0]), self=y, vec2=k[:, 0].clone())
case("matmul", t @ k, self=t, other=k)
case("matmul", t @ k[:, 0], self=t, other=k[:, 0].clone())
wide = numbers(3, 1, 4, 2)
case("matmul", t @ wide, self=t, other=wide)
w, bias = numbers(5, 4), numbers(5)
case("linear", F.linear(t, w, bias), self=t, weight=w, bias=bias)
case("addmm", torch.addmm(bias, m, k, beta=2, alpha=0.5), self=bias, mat1=m, mat2=k, beta=2, alpha=0.5)
case("baddbmm", torch.baddbmm(numbers(2, 3, 3), t, numbers(2, 4, 3)), self=numbers(2, 3, 3), batch1=t, batch2=numbers(2, 4, 3))
case("addmv", torch.addmv(y[:3], m, k[:, 0]), self=y[:3].clone(), mat=m, vec=k[:, 0].clone())
case("einsum", torch.einsum("bij,jk->bki", t, k), equation="bij,jk->bki", tensors=[t, k])
image, kernel = numbers(2, 4, 5, 6), numbers(6, 4, 3, 2)
case("conv2d", F.conv2d(image, kernel), self=image, weight=kernel)
case("conv2d", F.conv2d(image, kernel, numbers(6), (2, 1), (1, 2), (1, 2)), self=image, weight=kernel,
     bias=numbers(6), stride=[2, 1], padding=[1, 2], dilation=[1, 2])
halves = numbers(6, 2, 3, 2)
case("conv2d", F.conv2d(image, halves, groups=2), self=image, weight=halves, groups=2)
case("convolution", F.conv2d(image, numbers(8, 1, 3, 3), padding=1, groups=4), self=image, weight=numbers(8, 1, 3, 3),
     stride=[1, 1], padding=[1, 1], dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=4)
line = numbers(2, 3, 7)
case("conv1d", F.conv1d(line, numbers(4, 3, 3), stride=2, dilation=2), self=line, weight=numbers(4, 3, 3), stride=2, dilation=2)
cube = numbers(1, 2, 3, 4, 3)
case("conv3d", F.conv3d(cube, numbers(2, 2, 2, 2, 2), padding=1), self=cube, weight=numbers(2, 2, 2, 2, 2), padding=1)
back = numbers(4, 3, 3, 2)
case("conv_transpose2d", F.conv_transpose2d(image, back), self=image, weight=back)
case("conv_transpose2d", F.conv_transpose2d(image, back, numbers(3), (2, 3), (1, 1), (1, 2), 1, (2, 1)), self=image, weight=back,
     bias=numbers(3), stride=[2, 3], padding=[1, 1], output_padding=[1, 2], dilation=[2, 1])
case("conv_transpose2d", F.conv_transpose2d(image, back, groups=2, stride=2), self=image, weight=back, groups=2, stride=2)
case("conv_transpose1d", F.conv_transpose1d(line, numbers(3, 2, 4), stride=3), self=line, weight=numbers(3, 2, 4), stride=3)
case("conv_transpose3d", F.conv_transpose3d(cube, numbers(2, 1, 2, 3, 2), stride=2), self=cube, weight=numbers(2, 1, 2, 3, 2), stride=2)

# Windows.
case("max_pool1d", F.max_pool1d(line, 3, 2, 1), self=line, kernel_size=3, stride=2, padding=1)
case("max_pool2d", F.max_pool2d(image, (3, 2), (2, 2), (1, 1)), self=image, kernel_size=[3, 2], stride=[2, 2], padding=[1, 1])
case("max_pool2d", F.max_pool2d(image, 2, 3, 1, 2, True), self=image, kernel_size=2, stride=3, padding=1, dilation=2, ceil_mode=True)
case("max_pool3d", F.max_pool3d(cube, 2, 1), self=cube, kernel_size=2, stride=1)
case("avg_pool1d", F.avg_pool1d(line, 3, 2, 1), self=line, kernel_size=3, stride=2, padding=1)
case("avg_pool2d", F.avg_pool2d(image, 2), self=image, kernel_size=2)
case("avg_pool2d", F.avg_pool2d(image, 3, 2, 1, count_include_pad=False), self=image, kernel_size=3, stride=2, padding=1,
     count_include_pad=False)
case("avg_pool3d", F.avg_pool3d(cube, 2, 1), self=cube, kernel_size=2, stride=1)
case("adaptive_avg_pool2d", F.adaptive_avg_pool2d(image, (1, 3)), self=image, output_size=[1, 3])
case("adaptive_avg_pool1d", F.adaptive_avg_pool1d(line, 1), self=line, output_size=1)
case("adaptive_avg_pool3d", F.adaptive_avg_pool3d(cube, 1), self=cube, output_size=1)

# Norms, softmax, attention.
case("softmax", F.softmax(t, 1), self=t, dim=1)
case("log_softmax", F.log_softmax(t, -1), self=t, dim=-1)
gamma, beta = numbers(4), numbers(4)
case("native_layer_norm", torch.native_layer_norm(t, [4], gamma, beta, 0.125), self=t, normalized_shape=[4], weight=gamma,
     bias=beta, eps=0.125)
case("layer_norm", F.layer_norm(t, [3, 4]), self=t, normalized_shape=[3, 4])
case("rms_norm", F.rms_norm(t, [4], gamma, 0.125), self=t, normalized_shape=[4], weight=gamma, eps=0.125)
case("group_norm", F.group_norm(image, 2, gamma, beta, 0.25), self=image, num_groups=2, weight=gamma, bias=beta, eps=0.25)
case("native_group_norm", torch.native_group_norm(image, gamma, beta, 2, 4, 30, 2, 0.25), self=image, weight=gamma, bias=beta,
     N=2, C=4, HxW=30, group=2, eps=0.25)
mean, variance = numbers(4), positive(4)
case("_native_batch_norm_legit_no_training", F.batch_norm(image, mean, variance, gamma, beta, False, 0.1, 0.25), self=image,
     weight=gamma, bias=beta, running_mean=mean, running_var=variance, momentum=0.1, eps=0.25)
case("native_batch_norm", F.batch_norm(image, None, None, gamma, beta, True, 0.1, 0.25), self=image, weight=gamma, bias=beta,
     training=True, momentum=0.1, eps=0.25)
case("instance_norm", F.instance_norm(image, weight=gamma, bias=beta, eps=0.25), self=image, weight=gamma, bias=beta, eps=0.25)
case("normalize", F.normalize(t, dim=1), self=t, dim=1)
q, keys, v = numbers(2, 3, 4), numbers(2, 5, 4), numbers(2, 5, 3)
case("scaled_dot_product_attention", F.scaled_dot_product_attention(q, keys, v), query=q, key=keys, value=v)
seen = torch.tensor([[True, False, True, True, True]]).expand(3, 5).clone()
case("scaled_dot_product_attention", F.scaled_dot_product_attention(q, keys, v, seen, scale=0.25), query=q, key=keys, value=v,
     attn_mask=seen, scale=0.25)
case("scaled_dot_product_attention", F.scaled_dot_product_attention(q, keys[:, :3], v[:, :3], is_causal=True), query=q,
     key=keys[:, :3].clone(), value=v[:, :3].clone(), is_causal=True)

# Elements by index.
table, at = numbers(5, 3), whole(2, 2, high=4)
case("embedding", F.embedding(at, table), weight=table, indices=at)
case("index_select", table.index_select(1, at[0] % 3), self=table, dim=1, index=at[0] % 3)
case("index", table[at], self=table, indices=[at])
rows = whole(5, 2, high=2)
case("gather", table.gather(1, rows), self=table, dim=1, index=rows)

# Losses.
guess, truth = numbers(4, 3), numbers(4, 3)
for name in "mse_loss l1_loss smooth_l1_loss huber_loss".split():
    for reduction in ("none", "mean", "sum"):
        case(name, getattr(F, name)(guess, truth, reduction=reduction), self=guess, target=truth, reduction=reduction)
chance = (positive(4, 3)) / 8
case("binary_cross_entropy", F.binary_cross_entropy(chance.clamp(max=0.875), chance.clamp(max=1)), self=chance.clamp(max=0.875), target=chance.clamp(max=1))
case("kl_div", F.kl_div(guess, chance, reduction="sum"), self=guess, target=chance, reduction="sum")
case("kl_div", F.kl_div(guess, truth, reduction="mean", log_target=True), self=guess, target=truth, log_target=True)
labels = whole(4, high=2)
case("nll_loss", F.nll_loss(guess, labels), self=guess, target=labels)
case("cross_entropy", F.cross_entropy(guess, labels), self=guess, target=labels)
case("cosine_similarity", F.cosine_similarity(guess, truth, 1), x1=guess, x2=truth, dim=1)
case("triplet_margin_loss", F.triplet_margin_loss(guess, truth, numbers(4, 3)), anchor=guess, positive=truth, negative=numbers(4, 3))

# Types: of truth values, of integers beside numbers that are written as floats, of narrow integers.
singles = x.to(torch.float32)
for name in "add mul maximum minimum".split():
    case(name, getattr(torch, name)(a, b), self=a, other=b)
    case(name, getattr(torch, name)(a, n[:5].to(torch.int32)), self=a, other=n[:5].to(torch.int32))
case("div", a / (b | True), self=a, other=b | True)
case("add", a + 1, self=a, other=1)
case("mul", a * 2.0, self=a, other=2.0)
square = torch.tensor([[True, True, False], [True, True, True], [False, True, True]])
case("tril", square.tril(), self=square)
case("triu", square.triu(1), self=square, diagonal=1)
for value in (0, 1, 2):
    case("masked_fill", a.masked_fill(b, value), self=a, mask=b, value=value)
case("masked_fill", n.to(torch.int8).masked_fill(n > 2, 7), self=n.to(torch.int8), mask=n > 2, value=7)
case("where", torch.where(a, b, 0), condition=a, self=b, other=0)
for name in "amax amin".split():
    case(name, getattr(torch, name)(a, dim=(1,)), self=a, dim=[1])
case("max", a.max(1).values, self=a, dim=1)
case("min", torch.min(a, b), self=a, other=b)
case("cummax", a.cummax(1).values, self=a, dim=1)
case("cummin", a.cummin(1).values, self=a, dim=1)
case("prod", a.prod(1), self=a, dim=1)
small, bytes_ = n.to(torch.int32), torch.tensor([0, 1, 44, 128, 200, 255], dtype=torch.uint8)
for name in "add sub mul div floor_divide remainder pow clamp_min clamp_max".split():
    other = {"pow": "exponent", "clamp_min": "min", "clamp_max": "max"}.get(name, "other")
    for value in (2, 2.0):
        for tensor in (small, bytes_):
            case(name, getattr(torch, name)(tensor, value), self=tensor, **{other: value})
case("clamp", torch.clamp(bytes_, min=1.0, max=128), self=bytes_, min=1.0, max=128)
case("eq", bytes_ == 128.0, self=bytes_, other=128.0)
case("rsub", torch.rsub(bytes_, 1), self=bytes_, other=1)
case("neg", -bytes_, self=bytes_)
case("add", bytes_ + (n > 0), self=bytes_, other=n > 0)
case("mul", bytes_ * n.to(torch.int8), self=bytes_, other=n.to(torch.int8))
case("add", bytes_ + torch.tensor(300), self=bytes_, other=torch.tensor(300))
case("lt", bytes_ < torch.tensor(300), self=bytes_, other=torch.tensor(300))
case("add", small + torch.tensor(0.5), self=small, other=torch.tensor(0.5))
narrow, far = n.to(torch.int8), torch.tensor(256)
case("div", narrow / far, self=narrow, other=far)
case("floor_divide", narrow // (far + 2), self=narrow, other=far + 2)
case("logical_and", torch.logical_and(narrow, far), self=narrow, other=far)
case("where", torch.where(n > 0, small, 2.0), condition=n > 0, self=small, other=2.0)
case("where", torch.where(n > 0, small, bytes_), condition=n > 0, self=small, other=bytes_)
for name in "any all".split():
    case(name, getattr(torch, name)(bytes_, dim=0), self=bytes_, dim=0)
case("prod", bytes_[1:].prod(0), self=bytes_[1:].clone(), dim=0)
case("sum", bytes_.sum(0, dtype=torch.uint8), self=bytes_, dim=0, dtype="u8")
case("sum", singles.sum(1, dtype=torch.int32), self=singles, dim=1, dtype="i32")
case("_to_copy", n.to(torch.uint8), self=n, dtype="u8")
case("full", torch.full((2,), 3), size=[2], fill_value=3)
case("full", torch.full((2,), 3.0), size=[2], fill_value=3.0)
case("full", torch.full((2,), 0.5, dtype=torch.bool), size=[2], fill_value=0.5, dtype="bool")
case("full", torch.full((2,), True), size=[2], fill_value=True)
case("arange", torch.arange(0, 5.0), start=0, end=5.0)
for name in "floor ceil trunc round sign".split():
    case(name, getattr(torch, name)(small), self=small)
slopes = torch.tensor([0.5, -2.0, 3.0], dtype=torch.float64)
for shape in ((2, 3), (2, 3, 4), (1, 3, 3)):
    case("prelu", F.prelu(numbers(*shape), slopes), self=numbers(*shape), weight=slopes)
case("_prelu_kernel", torch._prelu_kernel(t, slopes.view(1, 3, 1)), self=t, weight=slopes.view(1, 3, 1))
case("rms_norm", F.rms_norm(singles / 4096, [5]), self=singles / 4096, normalized_shape=[5])
line_mask = torch.ones(3, 3, dtype=torch.bool).tril()
case("scaled_dot_product_attention", F.scaled_dot_product_attention(q, keys[:, :3], v[:, :3], line_mask), query=q,
     key=keys[:, :3].clone(), value=v[:, :3].clone(), attn_mask=line_mask)

# Broadcast operands: an ellipsis in an equation, indices, cosines.
stack, one = numbers(2, 3, 2, 3), numbers(2, 1, 3, 2)
for equation, operands in (
    ("...ij->ij", [stack]), ("i...j->...i", [stack]), ("ij->...ji", [x]), ("...ij,...jk->...ik", [stack, one]),
    ("...ij, ... jk -> i ... k", [one, stack[0, 0]]), ("...,...->...", [z, x]), ("A...,A...->...", [m, m[:, :1].clone()]),
    ("...ii->...i", [stack[:, :2, :, :2].clone()]), ("i,...i->", [y, x]),
):
    case("einsum", torch.einsum(equation, *operands), equation=equation, tensors=operands)
pairs = bytes_.view(2, 3)
for equation, operands in (("ij,kj->ik", [pairs, pairs]), ("ij,...j->i", [pairs, pairs[0]]), ("ij->i", [n.view(2, 3)])):
    case("einsum", torch.einsum(equation, *operands), equation=equation, tensors=operands)
case("linear", F.linear(t[0, 0], w), self=t[0, 0].clone(), weight=w)
batches, column = numbers(2, 4, 3), k[:, 0].clone()
case("matmul", column @ batches, self=column, other=batches)
case("matmul", stack.transpose(2, 3) @ one.transpose(2, 3), self=stack.transpose(2, 3).clone(),
     other=one.transpose(2, 3).clone())
first, spread = numbers(1, 3), whole(5, 1, high=2)
for own, indices, dim in (
    (table, rows, 1), (table, rows[:1].clone(), 1), (first, rows, -1), (table, rows.t()[:, :1].clone(), 0),
    (first, spread, 1), (table, rows, None),
):
    given = {} if dim is None else {"dim": dim}
    case("take_along_dim", torch.take_along_dim(own, indices, **given), self=own, indices=indices, **given)
for left, right, dim in ((guess, truth[:1], 0), (truth[:, :1], guess, 1), (guess, truth[0], -1)):
    left, right = left.clone(), right.clone()
    case("cosine_similarity", F.cosine_similarity(left, right, dim), x1=left, x2=right, dim=dim)
case("triplet_margin_loss", F.triplet_margin_loss(guess, truth[:, :1], truth[:1]), anchor=guess,
     positive=truth[:, :1].clone(), negative=truth[:1].clone())

# Powers by tensors, of negative numbers and of zero.
powers = torch.tensor([2, 0, -1, 3, 1])
nonzero = torch.where(x == 0, 0.5, x)
case("pow", torch.pow(nonzero, powers), self=nonzero, exponent=powers)
case("pow", torch.pow(x, powers.abs()), self=x, exponent=powers.abs())
case("pow", torch.pow(-2.0, powers), self=-2.0, exponent=powers)
for base in (x, n[:5].clone(), torch.tensor(3)):
    case("pow", torch.pow(base, a), self=base, exponent=a)

# Rows all of whose keys are masked.
unseen = torch.tensor([[True, False, True, True, True], [False] * 5, [False, True, False, False, False]])
for mask in (unseen, torch.where(unseen, numbers(3, 5), -math.inf), torch.tensor([[True], [False], [True]])):
    case("scaled_dot_product_attention", F.scaled_dot_product_attention(q, keys, v, mask), query=q, key=keys, value=v,
         attn_mask=mask)

# Targets that are zero.
some = torch.tensor([[0, 0.5, 0.25], [1, 0, 0]], dtype=torch.float64)
for reduction in ("none", "sum"):
    case("kl_div", F.kl_div(numbers(2, 3), some, reduction=reduction), self=numbers(2, 3), target=some, reduction=reduction)

path = Path(__file__).resolve().parent.parent / "tests" / "operators.json"
lines = ",\n".join(json.dumps(case, allow_nan=False) for case in cases)
path.write_text(f"[\n{lines}\n]\n")
print(f"{len(cases)} cases of {len({case['op'] for case in cases})} operators")
