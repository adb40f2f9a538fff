// Softmax of rows of n numbers, one block and one thread a row, in three passes.

__device__ void softmax_of(float *y, int n)
{
    float most = y[0];
    for (int i = 1; i < n; i++)
        most = fmaxf(most, y[i]);
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += expf(y[i] - most);
    for (int i = 0; i < n; i++)
        y[i] = expf(y[i] - most) / sum;
}

// Of scaled numbers.
extern "C" __global__ void softmax(const float *x, float *y, int n, float scale)
{
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    for (int i = 0; i < n; i++)
        y[i] = x[i] * scale;
    softmax_of(y, n);
}

// Of scaled numbers and a mask that all heads share. There are 4 heads, blocks in y; the slope of head h is m0^(h + 1).
extern "C" __global__ void softmax_alibi(const float *x, const float *mask, float *y, int n, float scale, float m0)
{
    int row = blockIdx.y * gridDim.x + blockIdx.x;
    x += row * n;
    y += row * n;
    mask += blockIdx.x * n;
    float slope = 1.0f;
    for (int h = 0; h <= blockIdx.y; h++)
        slope *= m0;
    for (int i = 0; i < n; i++)
        y[i] = x[i] * scale + slope * mask[i];
    softmax_of(y, n);
}

// With a sink: one number more in the sum, of each head, which are blocks in y.
extern "C" __global__ void softmax_sinks(const float *x, const float *sinks, float *y, int n, float scale)
{
    int row = blockIdx.y * gridDim.x + blockIdx.x;
    x += row * n;
    y += row * n;
    float sink = sinks[blockIdx.y];
    float most = sink;
    for (int i = 0; i < n; i++)
        most = fmaxf(most, x[i] * scale);
    float sum = expf(sink - most);
    for (int i = 0; i < n; i++)
        sum += expf(x[i] * scale - most);
    for (int i = 0; i < n; i++)
        y[i] = expf(x[i] * scale - most) / sum;
}

// The gradient: y is what softmax gave.
extern "C" __global__ void softmax_back(const float *grad, const float *y, float *dx, int n, float scale)
{
    grad += blockIdx.x * n;
    y += blockIdx.x * n;
    dx += blockIdx.x * n;
    float dot = 0.0f;
    for (int i = 0; i < n; i++)
        dot += y[i] * grad[i];
    for (int i = 0; i < n; i++)
        dx[i] = scale * y[i] * (grad[i] - dot);
}
