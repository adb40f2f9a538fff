// Norms of rows of n numbers, one block and one thread a row, as textbooks have them.

// To mean 0 and variance 1.
extern "C" __global__ void layer_norm(const float *x, float *y, int n, float eps)
{
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float mean = 0.0f;
    for (int i = 0; i < n; i++)
        mean += x[i];
    mean /= n;
    float variance = 0.0f;
    for (int i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    variance /= n;
    for (int i = 0; i < n; i++)
        y[i] = (x[i] - mean) / sqrtf(variance + eps);
}

__device__ float mean_of_squares(const float *x, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum / n;
}

// To a mean of squares of 1.
extern "C" __global__ void rms_norm(const float *x, float *y, int n, float eps)
{
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float root = sqrtf(mean_of_squares(x, n) + eps);
    for (int i = 0; i < n; i++)
        y[i] = x[i] / root;
}

// With a weight for each column.
extern "C" __global__ void rms_norm_mul(const float *x, const float *weight, float *y, int n, float eps)
{
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float root = sqrtf(mean_of_squares(x, n) + eps);
    for (int i = 0; i < n; i++)
        y[i] = x[i] / root * weight[i];
}

// With a weight and a bias for each column.
extern "C" __global__ void rms_norm_mul_add(const float *x, const float *weight, const float *bias, float *y, int n,
                                            float eps)
{
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float root = sqrtf(mean_of_squares(x, n) + eps);
    for (int i = 0; i < n; i++)
        y[i] = x[i] / root * weight[i] + bias[i];
}

// The gradient of rms_norm: of y = x / r it is (g - x (x·g) / (n r²)) / r.
extern "C" __global__ void rms_norm_back(const float *grad, const float *x, float *y, int n, float eps)
{
    grad += blockIdx.x * n;
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float square = mean_of_squares(x, n) + eps;
    float dot = 0.0f;
    for (int i = 0; i < n; i++)
        dot += x[i] * grad[i];
    for (int i = 0; i < n; i++)
        y[i] = (grad[i] - x[i] * dot / (n * square)) / sqrtf(square);
}

// To length 1, of vectors that are longer than eps.
extern "C" __global__ void l2_norm(const float *x, float *y, int n, float eps)
{
    x += blockIdx.x * n;
    y += blockIdx.x * n;
    float square = 0.0f;
    for (int i = 0; i < n; i++)
        square += x[i] * x[i];
    for (int i = 0; i < n; i++)
        y[i] = x[i] / sqrtf(fmaxf(square, eps * eps));
}
