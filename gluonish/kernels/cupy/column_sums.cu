// Sums of the columns of a contiguous matrix.
//
// A block sums a chunk of rows in ABREAST * VECTOR columns; its threads load VECTOR adjacent elements
// of every (THREADS / ABREAST)-th row. With several chunks, a second kernel adds their sums. The order
// of a column's sum depends on ABREAST and the length of a chunk only.
#include "vectors.cuh"

#ifndef ABREAST
#define ABREAST 32
#endif
#ifndef VECTOR
#define VECTOR 1
#endif
#ifndef LAST
#define LAST 1
#endif
#define THREADS 256
#define LANES (THREADS / ABREAST)
#define UNROLLED 4  // rows whose elements are added in Wide before they are added to the sum

#if KIND == 2 || KIND == 14
typedef float Sum;
#else
typedef double Sum;
#endif

#if LAST
typedef Scalar Target;
__device__ inline Target made(Sum x) { return rounded((Wide)x); }
#else
typedef Sum Target;
__device__ inline Target made(Sum x) { return x; }
#endif

extern "C" __global__ void column_sums(
    const Scalar *data, Target *target, Index rows, Index columns, Index chunk) {
    __shared__ Sum shared[VECTOR * THREADS];
    int lane = threadIdx.x / ABREAST;
    Index column = ((Index)blockIdx.x * ABREAST + threadIdx.x % ABREAST) * VECTOR;
    Index first = (Index)blockIdx.y * chunk;
    Index end = rows - first < chunk ? rows : first + chunk;
    Sum sum[VECTOR] = {};
    if (column < columns) {
        Index row = first + lane;
        const Scalar *x = data + (Offset)row * columns + column;
        Offset step = (Offset)LANES * columns;
        for (; row + (UNROLLED - 1) * LANES < end; row += UNROLLED * LANES) {
            Wide values[UNROLLED][VECTOR];
#pragma unroll
            for (int i = 0; i < UNROLLED; ++i, x += step) load_vector<VECTOR>(x, values[i]);
#pragma unroll
            for (int k = 0; k < VECTOR; ++k) {
                sum[k] += (Sum)((values[0][k] + values[1][k]) + (values[2][k] + values[3][k]));
            }
        }
        for (; row < end; row += LANES, x += step) {
            Wide values[VECTOR];
            load_vector<VECTOR>(x, values);
#pragma unroll
            for (int k = 0; k < VECTOR; ++k) sum[k] += (Sum)values[k];
        }
    }
#pragma unroll
    for (int k = 0; k < VECTOR; ++k) shared[k * THREADS + threadIdx.x] = sum[k];
    for (int half = LANES / 2; half; half /= 2) {
        __syncthreads();
        if (lane < half) {
#pragma unroll
            for (int k = 0; k < VECTOR; ++k) {
                int here = k * THREADS + threadIdx.x;
                shared[here] += shared[here + half * ABREAST];
            }
        }
    }
    if (lane || column >= columns) return;
    Target *out = target + (Offset)blockIdx.y * columns + column;
#pragma unroll
    for (int k = 0; k < VECTOR; ++k) out[k] = made(shared[k * THREADS + threadIdx.x]);
}

// Adds the sums of chunks, (chunks, total); one thread for each column.
extern "C" __global__ void add_chunks(const Sum *sums, Scalar *out, Index total, int chunks) {
    Index column = thread_number();
    if (column >= total) return;
    Sum sum = 0;
    for (int i = 0; i < chunks; ++i) sum += sums[(Offset)i * total + column];
    out[column] = rounded((Wide)sum);
}
