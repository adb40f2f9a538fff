// The functions of CUDA's mathematical library that are looked for in kernels, each in a kernel of its own.
// `scripts/library.sh` compiles them.

extern "C" __global__ void of_logf(const float *x, float *out) { *out = logf(*x); }
extern "C" __global__ void of_log2f(const float *x, float *out) { *out = log2f(*x); }
extern "C" __global__ void of_log10f(const float *x, float *out) { *out = log10f(*x); }
extern "C" __global__ void of_log1pf(const float *x, float *out) { *out = log1pf(*x); }
extern "C" __global__ void of_expm1f(const float *x, float *out) { *out = expm1f(*x); }
extern "C" __global__ void of_tanhf(const float *x, float *out) { *out = tanhf(*x); }
extern "C" __global__ void of_sinhf(const float *x, float *out) { *out = sinhf(*x); }
extern "C" __global__ void of_coshf(const float *x, float *out) { *out = coshf(*x); }
extern "C" __global__ void of_hypotf(const float *x, const float *y, float *out) { *out = hypotf(*x, *y); }
extern "C" __global__ void of_rnorm3df(const float *x, const float *y, const float *z, float *out) { *out = rnorm3df(*x, *y, *z); }
