// Functions of the expressions of gluonish/kernels/generated/expressions.py.

#define THREADS 256

typedef float float32;
typedef double float64;
typedef signed char int8;
typedef unsigned char uint8;
typedef int int32;
typedef long long int64;

#if FLOAT16
#include <cuda_fp16.h>
__device__ inline float load_f16(__half x) { return __half2float(x); }
__device__ inline __half store_f16(float x) { return __float2half_rn(x); }
#endif
#if BFLOAT16
#include <cuda_bf16.h>
__device__ inline float load_bf16(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline __nv_bfloat16 store_bf16(float x) { return __float2bfloat16_rn(x); }
#endif

typedef INDEX Index;

// The quotient of a number below 2^31 by the divisor of ``factor`` and ``shift``.
__device__ inline unsigned divided(unsigned x, unsigned factor, unsigned shift) {
    return (__umulhi(x, factor) + x) >> shift;
}

template <class T> __device__ inline T select(bool condition, T x, T y) { return condition ? x : y; }
__device__ inline float32 flag_float32(bool condition) { return condition ? 1.0f : 0.0f; }
__device__ inline float64 flag_float64(bool condition) { return condition ? 1.0 : 0.0; }
__device__ inline int64 flag_int64(bool condition) { return condition ? 1 : 0; }

// NaN of either operand gives NaN.
template <class T> __device__ inline T maximum(T x, T y) { return x > y || x != x ? x : y; }
template <class T> __device__ inline T minimum(T x, T y) { return x < y || x != x ? x : y; }

template <class T> __device__ inline T sigmoid(T x) { return T(1) / (T(1) + exp(-x)); }
template <class T> __device__ inline T softplus(T x) {
    return maximum(x, T(0)) + log1p(exp(-fabs(x)));
}
__device__ inline float32 gammaln(float32 x) { return lgamma(x); }

// The argument is shifted up for an asymptotic series; below 0 by the reflection formula. Infinite at
// the poles.
__device__ inline float32 digamma(float32 argument) {
    float64 x = argument, found = 0;
    if (x <= 0) {
        if (x == floor(x)) return float32(1e300);
        found = -3.14159265358979323846 / tan(3.14159265358979323846 * (x - floor(x)));
        x = 1 - x;
    }
    for (; x < 8; x += 1) found -= 1 / x;
    float64 square = 1 / (x * x);
    float64 series =
        square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240))));
    return float32(found + log(x) - 0.5 / x - series);
}
