#include <torch/extension.h>

// Each output collects what reaches it.
__global__ void conv_transpose(const float *x, const float *weight, const float *bias, float *y, int channels, int h, int w,
                               int filters, int oh, int ow, int size, int stride, int padding, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int column = i % ow, row = i / ow % oh, filter = i / (ow * oh) % filters, image = i / (ow * oh * filters);
    float sum = bias[filter];
    for (int a = 0; a < size; ++a) {
        int r = row + padding - a;
        if (r < 0 || r % stride != 0 || r / stride >= h)
            continue;
        for (int b = 0; b < size; ++b) {
            int q = column + padding - b;
            if (q < 0 || q % stride != 0 || q / stride >= w)
                continue;
            for (int c = 0; c < channels; ++c)
                sum += x[((image * channels + c) * h + r / stride) * w + q / stride] * weight[((c * filters + filter) * size + a) * size + b];
        }
    }
    y[i] = sum;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, int stride, int padding)
{
    int h = x.size(2), w = x.size(3), filters = weight.size(1), size = weight.size(2);
    int oh = (h - 1) * stride - 2 * padding + size, ow = (w - 1) * stride - 2 * padding + size;
    auto y = torch::empty({x.size(0), filters, oh, ow}, x.options());
    int n = y.numel();
    conv_transpose<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), x.size(1), h, w, filters, oh, ow, size, stride, padding, n);
    return y;
}
