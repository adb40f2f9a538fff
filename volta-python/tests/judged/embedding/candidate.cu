#include <torch/extension.h>

__global__ void look_up(const long *indices, const float *weight, float *y, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = weight[indices[i / width] * width + i % width];
}

torch::Tensor forward(torch::Tensor indices, torch::Tensor weight)
{
    auto y = torch::empty({indices.size(0), indices.size(1), weight.size(1)}, weight.options());
    int n = y.numel();
    look_up<<<(n + 63) / 64, 64>>>(indices.data_ptr<int64_t>(), weight.data_ptr<float>(), y.data_ptr<float>(), n, weight.size(1));
    return y;
}
