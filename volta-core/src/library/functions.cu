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
extern "C" __global__ void of_exp(const double *x, double *out) { *out = exp(*x); }
extern "C" __global__ void of_exp2(const double *x, double *out) { *out = exp2(*x); }
extern "C" __global__ void of_exp10(const double *x, double *out) { *out = exp10(*x); }
extern "C" __global__ void of_log(const double *x, double *out) { *out = log(*x); }
extern "C" __global__ void of_log2(const double *x, double *out) { *out = log2(*x); }
extern "C" __global__ void of_log10(const double *x, double *out) { *out = log10(*x); }
extern "C" __global__ void of_log1p(const double *x, double *out) { *out = log1p(*x); }
extern "C" __global__ void of_expm1(const double *x, double *out) { *out = expm1(*x); }
extern "C" __global__ void of_tanh(const double *x, double *out) { *out = tanh(*x); }
extern "C" __global__ void of_sinh(const double *x, double *out) { *out = sinh(*x); }
extern "C" __global__ void of_cosh(const double *x, double *out) { *out = cosh(*x); }
extern "C" __global__ void of_cbrt(const double *x, double *out) { *out = cbrt(*x); }
extern "C" __global__ void of_rcbrt(const double *x, double *out) { *out = rcbrt(*x); }
extern "C" __global__ void of_erf(const double *x, double *out) { *out = erf(*x); }
extern "C" __global__ void of_erfc(const double *x, double *out) { *out = erfc(*x); }
extern "C" __global__ void of_atan(const double *x, double *out) { *out = atan(*x); }
extern "C" __global__ void of_asin(const double *x, double *out) { *out = asin(*x); }
extern "C" __global__ void of_acos(const double *x, double *out) { *out = acos(*x); }
extern "C" __global__ void of_acosh(const double *x, double *out) { *out = acosh(*x); }
extern "C" __global__ void of_atanh(const double *x, double *out) { *out = atanh(*x); }
extern "C" __global__ void of_asinh(const double *x, double *out) { *out = asinh(*x); }
extern "C" __global__ void of_pow(const double *x, const double *y, double *out) { *out = pow(*x, *y); }
extern "C" __global__ void of_hypot(const double *x, const double *y, double *out) { *out = hypot(*x, *y); }
extern "C" __global__ void of_rhypot(const double *x, const double *y, double *out) { *out = rhypot(*x, *y); }
extern "C" __global__ void of_atan2(const double *x, const double *y, double *out) { *out = atan2(*x, *y); }
extern "C" __global__ void of_logbf(const float *x, float *out) { *out = logbf(*x); }
extern "C" __global__ void of_ilogbf(const float *x, int *out) { *out = ilogbf(*x); }
extern "C" __global__ void of_frexpf_fraction(const float *x, float *out) { int exponent; *out = frexpf(*x, &exponent); }
extern "C" __global__ void of_frexpf_exponent(const float *x, int *out) { frexpf(*x, out); }
extern "C" __global__ void of_norm4df(const float *x, const float *y, const float *z, const float *w, float *out) { *out = norm4df(*x, *y, *z, *w); }
extern "C" __global__ void of_rnorm4df(const float *x, const float *y, const float *z, const float *w, float *out) { *out = rnorm4df(*x, *y, *z, *w); }
extern "C" __global__ void of_frexpf_both(const float *x, float *out) { int exponent; *out = frexpf(*x, &exponent); asm volatile("" ::"r"(exponent)); }
extern "C" __global__ void of_tgammaf(const float *x, float *out) { *out = tgammaf(*x); }
extern "C" __global__ void of_lgammaf(const float *x, float *out) { *out = lgammaf(*x); }
extern "C" __global__ void of_j0f(const float *x, float *out) { *out = j0f(*x); }
extern "C" __global__ void of_j1f(const float *x, float *out) { *out = j1f(*x); }
extern "C" __global__ void of_y0f(const float *x, float *out) { *out = y0f(*x); }
extern "C" __global__ void of_y1f(const float *x, float *out) { *out = y1f(*x); }
extern "C" __global__ void of_fmodf(const float *x, const float *y, float *out) { *out = fmodf(*x, *y); }
extern "C" __global__ void of_remainderf(const float *x, const float *y, float *out) { *out = remainderf(*x, *y); }
extern "C" __global__ void of_fmod(const double *x, const double *y, double *out) { *out = fmod(*x, *y); }
extern "C" __global__ void of_hexp10_bf16(const __nv_bfloat16 *x, __nv_bfloat16 *out) { *out = hexp10(*x); }
extern "C" __global__ void of_hcos(const __half *x, __half *out) { *out = hcos(*x); }
extern "C" __global__ void of_hsin(const __half *x, __half *out) { *out = hsin(*x); }
extern "C" __global__ void of_sin(const double *x, double *out) { *out = sin(*x); }
extern "C" __global__ void of_cos(const double *x, double *out) { *out = cos(*x); }
extern "C" __global__ void of_tan(const double *x, double *out) { *out = tan(*x); }
extern "C" __global__ void of_sincos_sine(const double *x, double *out) { double cosine; sincos(*x, out, &cosine); }
extern "C" __global__ void of_sincos_cosine(const double *x, double *out) { double sine; sincos(*x, &sine, out); }
