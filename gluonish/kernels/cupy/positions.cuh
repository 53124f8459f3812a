// Position: the type of positions along an axis of ``count`` elements. POSITION is the cudaDataType
// of floats, which are truncated, or 300 plus the bytes of a whole number (301 is signed, 311 not).
#if POSITION == 2
#include <cuda_fp16.h>
typedef __half Position;
__device__ inline long long whole(Position x) { return (long long)__half2float(x); }
#elif POSITION == 14
#include <cuda_bf16.h>
typedef __nv_bfloat16 Position;
__device__ inline long long whole(Position x) { return (long long)__bfloat162float(x); }
#else
#if POSITION == 0
typedef float Position;
#elif POSITION == 1
typedef double Position;
#elif POSITION == 301
typedef signed char Position;
#elif POSITION == 311
typedef unsigned char Position;
#elif POSITION == 304
typedef int Position;
#else
typedef long long Position;
#endif
__device__ inline long long whole(Position x) { return (long long)x; }
#endif

// Positions out of range wrap around if WRAP; else they are clipped to the nearest end.
__device__ inline unsigned row_of(Position position, long long count) {
    long long row = whole(position);
#if WRAP
    row %= count;
    return (unsigned)(row < 0 ? row + count : row);
#else
    return (unsigned)(row < 0 ? 0 : row < count ? row : count - 1);
#endif
}
