#include <torch/extension.h>

// A thread for each query, which goes through the keys once.
template <int DIM>
__global__ void attention(const float *q, const float *k, const float *v, float *o, int length, float scale)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= length)
        return;
    size_t base = (size_t)blockIdx.y * length * DIM;
    float most = -INFINITY, sum = 0.0f, out[DIM];
    for (int d = 0; d < DIM; ++d)
        out[d] = 0.0f;
    for (int j = 0; j < length; ++j) {
        float score = 0.0f;
        for (int d = 0; d < DIM; ++d)
            score += q[base + row * DIM + d] * k[base + j * DIM + d];
        score *= scale;
        float next = fmaxf(most, score), old = expf(most - next), weight = expf(score - next);
        for (int d = 0; d < DIM; ++d)
            out[d] = out[d] * old + weight * v[base + j * DIM + d];
        sum = sum * old + weight;
        most = next;
    }
    for (int d = 0; d < DIM; ++d)
        o[base + row * DIM + d] = out[d] / sum;
}

torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v)
{
    auto o = torch::empty_like(q);
    const int length = q.size(2), dim = q.size(3);
    const float scale = 1.0f / sqrtf(static_cast<float>(dim));
    const dim3 grid((length + 15) / 16, q.size(0) * q.size(1));
    if (dim == 64)
        attention<64><<<grid, 16>>>(q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), o.data_ptr<float>(), length, scale);
    else if (dim == 16)
        attention<16><<<grid, 16>>>(q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), o.data_ptr<float>(), length, scale);
    else
        TORCH_CHECK(false, "heads of 16 or 64");
    return o;
}
