#include <torch/extension.h>

__global__ void layer_norm_eps(const float *x, const float *weight, const float *bias, float *y, int width, float eps)
{
    __shared__ float sums[128], squares[128];
    const float *row = x + blockIdx.x * width;
    float sum = 0.0f, square = 0.0f;
    for (int i = threadIdx.x; i < width; i += 128) {
        sum += row[i];
        square += row[i] * row[i];
    }
    sums[threadIdx.x] = sum;
    squares[threadIdx.x] = square;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            squares[threadIdx.x] += squares[threadIdx.x + half];
        }
        __syncthreads();
    }
    float mean = sums[0] / width;
    float variance = squares[0] / width - mean * mean;
    for (int i = threadIdx.x; i < width; i += 128)
        y[blockIdx.x * width + i] = (row[i] - mean) * (1.0f / (sqrtf(variance) + eps)) * weight[i] + bias[i];
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps)
{
    auto y = torch::empty_like(x);
    const int width = weight.numel();
    layer_norm_eps<<<x.numel() / width, 128>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), width, eps);
    return y;
}
