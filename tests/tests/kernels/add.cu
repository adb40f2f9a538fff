// Kernels of the suites that use attributes.

extern "C" __global__ void add(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

// The operands the other way round, from the last element to the first.
extern "C" __global__ void add_backwards(float *z, const float *x, const float *y) {
    int i = gridDim.x * blockDim.x - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
    z[i] = y[i] + x[i];
}

extern "C" __global__ void add_twice(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + 2.0f * y[i];
}

// Every thread stores to the first element.
extern "C" __global__ void add_racy(const float *x, const float *y, float *z, int n) {
    int i = threadIdx.x;
    z[0] = x[i] + y[i];
}

// Two dimensions; beta scales what is there.
extern "C" __global__ void scale(float *a, float beta) {
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    a[i] = beta * a[i];
}

template <typename T> __global__ void shift(const T *x, T *y, T by) {
    y[threadIdx.x] = x[threadIdx.x] + by;
}
template __global__ void shift<float>(const float *, float *, float);
template __global__ void shift<double>(const double *, double *, double);
