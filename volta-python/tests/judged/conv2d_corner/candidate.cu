#include <torch/extension.h>

__global__ void conv(const float *x, const float *weight, float *y, int channels, int h, int w, int filters, int size, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int column = i % w, row = i / w % h, filter = i / (w * h) % filters, image = i / (w * h * filters);
    float sum = 0.0f;
    for (int c = 0; c < channels; ++c)
        for (int a = 0; a < size; ++a)
            for (int b = 0; b < size; ++b) {
                int r = row + a - size / 2, q = column + b - size / 2;
                if (r + q > 0 && r >= 0 && r < h && q >= 0 && q < w)
                    sum += x[((image * channels + c) * h + r) * w + q] * weight[((filter * channels + c) * size + a) * size + b];
            }
    y[i] = sum;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight)
{
    x = x.contiguous();
    int channels = x.size(1), h = x.size(2), w = x.size(3), filters = weight.size(0);
    auto y = torch::empty({x.size(0), filters, h, w}, x.options());
    int n = y.numel();
    conv<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), weight.data_ptr<float>(), y.data_ptr<float>(), channels, h, w, filters, weight.size(2), n);
    return y;
}
