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
extern "C" __global__ void of_erff(const float *x, float *out) { *out = erff(*x); }
extern "C" __global__ void of_erfcf(const float *x, float *out) { *out = erfcf(*x); }
extern "C" __global__ void of_atanf(const float *x, float *out) { *out = atanf(*x); }
extern "C" __global__ void of_asinf(const float *x, float *out) { *out = asinf(*x); }
extern "C" __global__ void of_acosf(const float *x, float *out) { *out = acosf(*x); }
extern "C" __global__ void of_cbrtf(const float *x, float *out) { *out = cbrtf(*x); }
extern "C" __global__ void of_rcbrtf(const float *x, float *out) { *out = rcbrtf(*x); }
extern "C" __global__ void of_sinf(const float *x, float *out) { *out = sinf(*x); }
extern "C" __global__ void of_cosf(const float *x, float *out) { *out = cosf(*x); }
extern "C" __global__ void of_tanf(const float *x, float *out) { *out = tanf(*x); }
extern "C" __global__ void of_sinpif(const float *x, float *out) { *out = sinpif(*x); }
extern "C" __global__ void of_cospif(const float *x, float *out) { *out = cospif(*x); }
extern "C" __global__ void of_atan2f(const float *x, const float *y, float *out) { *out = atan2f(*x, *y); }
extern "C" __global__ void of_powf(const float *x, const float *y, float *out) { *out = powf(*x, *y); }
extern "C" __global__ void of_rhypotf(const float *x, const float *y, float *out) { *out = rhypotf(*x, *y); }
extern "C" __global__ void of_acoshf(const float *x, float *out) { *out = acoshf(*x); }
extern "C" __global__ void of_atanhf(const float *x, float *out) { *out = atanhf(*x); }
extern "C" __global__ void of_norm3df(const float *x, const float *y, const float *z, float *out) { *out = norm3df(*x, *y, *z); }
extern "C" __global__ void of_sincosf_sine(const float *x, float *out) { float cosine; sincosf(*x, out, &cosine); }
extern "C" __global__ void of_sincosf_cosine(const float *x, float *out) { float sine; sincosf(*x, &sine, out); }
