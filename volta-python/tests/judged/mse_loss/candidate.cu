#include <torch/extension.h>

__global__ void squares(const float *a, const float *b, float *parts, int n)
{
    __shared__ float sums[64];
    float sum = 0.0f;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) {
        float d = a[i] - b[i];
        sum += d * d;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sums[0];
}

__global__ void whole(const float *parts, float *y, int count, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < count; ++i)
        sum += parts[i];
    y[0] = sum / n;
}

torch::Tensor forward(torch::Tensor predictions, torch::Tensor targets)
{
    int n = predictions.numel();
    int blocks = min((n + 63) / 64, 4);
    auto parts = torch::empty({blocks}, predictions.options());
    auto y = torch::empty({}, predictions.options());
    squares<<<blocks, 64>>>(predictions.data_ptr<float>(), targets.data_ptr<float>(), parts.data_ptr<float>(), n);
    whole<<<1, 1>>>(parts.data_ptr<float>(), y.data_ptr<float>(), blocks, n);
    return y;
}
