#include <torch/extension.h>

__global__ void sums(const float *x, float *y, int width)
{
    float sum = 0.0f;
    for (int i = blockIdx.y * 128 + threadIdx.x; i < min(width, (blockIdx.y + 1) * 128); i += 32)
        sum += x[(size_t)blockIdx.x * width + i];
    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, half);
    if (threadIdx.x == 0)
        atomicAdd(y + blockIdx.x, sum / width);
}

torch::Tensor forward(torch::Tensor x)
{
    int width = x.size(1);
    auto y = torch::zeros({x.size(0)}, x.options());
    dim3 grid(x.size(0), (width + 127) / 128);
    sums<<<grid, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), width);
    return y;
}
