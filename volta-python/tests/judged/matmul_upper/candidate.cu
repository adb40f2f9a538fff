#include <torch/extension.h>

// Below the diagonal, factors and product are zero.
__global__ void matmul_upper(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n && column < n) {
        float sum = 0.0f;
        for (int i = row; i <= column; ++i)
            sum += a[row * n + i] * b[i * n + column];
        c[row * n + column] = sum;
    }
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b)
{
    int n = a.size(0);
    auto c = torch::empty_like(a);
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    matmul_upper<<<grid, block>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), n);
    return c;
}
