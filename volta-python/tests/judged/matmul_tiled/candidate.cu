#include <torch/extension.h>

constexpr int TILE = 16;

__global__ void matmul_tiled(const float *a, const float *b, float *c, int m, int k, int n)
{
    __shared__ float left[TILE][TILE];
    __shared__ float right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int at = 0; at < k; at += TILE) {
        left[threadIdx.y][threadIdx.x] = row < m && at + threadIdx.x < k ? a[row * k + at + threadIdx.x] : 0.0f;
        right[threadIdx.y][threadIdx.x] = column < n && at + threadIdx.y < k ? b[(at + threadIdx.y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b)
{
    int m = a.size(0), k = a.size(1), n = b.size(1);
    auto c = torch::zeros({m, n}, a.options());
    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul_tiled<<<grid, block>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, k, n);
    return c;
}
