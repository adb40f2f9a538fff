import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda = """
#include <torch/extension.h>
#include <cuda_runtime.h>

template <typename scalar_t>
__global__ void gelu_kernel(const scalar_t *__restrict__ x, scalar_t *__restrict__ y, const int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const scalar_t v = x[i];
        const scalar_t inner = 0.7978845608028654f * (v + 0.044715f * v * v * v);
        y[i] = 0.5f * v * (1.0f + tanhf(inner));
    }
}

torch::Tensor gelu(torch::Tensor x)
{
    auto y = torch::empty_like(x);
    const int64_t n = x.numel();
    const int threads = 256;
    const int blocks = (n + threads - 1) / threads;
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gelu", ([&] {
        gelu_kernel<scalar_t><<<blocks, threads>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
    }));
    return y;
}
"""

ours = load_inline(name="gelu", cpp_sources="torch::Tensor gelu(torch::Tensor x);", cuda_sources=cuda, functions=["gelu"])


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return ours.gelu(self.linear(x))
