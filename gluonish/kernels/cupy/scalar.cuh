// Scalar: the type of array elements. Wide: the computed type. KIND is the cudaDataType of Scalar.
#if KIND == 2
#include <cuda_fp16.h>
typedef __half Scalar;
typedef float Wide;
__device__ inline Wide widen(Scalar x) { return __half2float(x); }
__device__ inline Scalar rounded(Wide x) { return __float2half_rn(x); }
#elif KIND == 14
#include <cuda_bf16.h>
typedef __nv_bfloat16 Scalar;
typedef float Wide;
__device__ inline Wide widen(Scalar x) { return __bfloat162float(x); }
__device__ inline Scalar rounded(Wide x) { return __float2bfloat16_rn(x); }
#else
#if KIND == 1
typedef double Scalar;
#else
typedef float Scalar;
#endif
typedef Scalar Wide;
__device__ inline Wide widen(Scalar x) { return x; }
__device__ inline Scalar rounded(Wide x) { return x; }
#endif

// Index: the type of thread indices; 32 bits if sufficient, for fast division.
typedef INDEX Index;
typedef long long Offset;

__device__ inline Index thread_number() {
    return (Index)blockIdx.x * blockDim.x + threadIdx.x;
}
