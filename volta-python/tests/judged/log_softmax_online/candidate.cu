#include <torch/extension.h>

// A warp for each row, in one pass.
__global__ void log_softmax_online(const float *x, float *y, int rows, int width)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float most = -INFINITY, sum = 0.0f;
    for (int i = lane; i < width; i += 32) {
        float v = x[row * width + i];
        float next = fmaxf(most, v);
        sum = sum * expf(most - next) + expf(v - next);
        most = next;
    }
    float whole = most;
    for (int half = 16; half > 0; half /= 2)
        whole = fmaxf(whole, __shfl_xor_sync(0xffffffff, whole, half));
    sum = most == -INFINITY ? 0.0f : sum * expf(most - whole);
    for (int half = 16; half > 0; half /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, half);
    float log_sum = logf(sum) + whole;
    for (int i = lane; i < width; i += 32)
        y[row * width + i] = x[row * width + i] - log_sum;
}

torch::Tensor forward(torch::Tensor x)
{
    auto y = torch::empty_like(x);
    int rows = x.size(0);
    log_softmax_online<<<(rows + 3) / 4, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, x.size(1));
    return y;
}
