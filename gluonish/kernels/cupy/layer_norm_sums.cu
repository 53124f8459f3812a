// The gradients of LayerNorm's gamma and beta: sums over rows, in an order that depends on sizes only.
#include "rows.cuh"

#define ABREAST 32  // threads side by side
#define DEEP (THREADS / ABREAST)
#include "layer_norm_macros.cuh"

// Gradients of gamma and beta: each block sums ``chunk`` rows of ABREAST * ACCESS columns, into
// (chunks, 2, size).
extern "C" __global__ void __launch_bounds__(THREADS) layer_norm_sums(
    const Scalar *grad, const Scalar *other, const Scalar *data, const Parameter *mean,
    const Parameter *std, Wide *sums, Index total, Index size, Index chunk) {
    enum { COLUMNS = ABREAST * ACCESS };
    __shared__ Wide shared[2][DEEP][COLUMNS];
    const int lane = threadIdx.x / ABREAST, place = threadIdx.x % ABREAST * ACCESS;
    const Index column = (Index)blockIdx.x * COLUMNS + place;
    const Index begin = (Index)blockIdx.y * chunk, end = begin + chunk < total ? begin + chunk : total;
    Wide of_gamma[ACCESS] = {}, of_beta[ACCESS] = {};
    if (column < size) {
#pragma unroll 2
        for (Index row = begin + lane; row < end; row += DEEP) {
            const Offset at = (Offset)row * size + column;
            const Wide centre = read(mean[row]), rescale = (Wide)1 / read(std[row]);
            Wide g[ACCESS], x[ACCESS];
            load_access(grad + at, g);
#if TWO
            load_access(other + at, x);
#pragma unroll
            for (int k = 0; k < ACCESS; ++k) g[k] += x[k];
            round_all<ACCESS>(g);
#endif
            load_access(data + at, x);
#pragma unroll
            for (int k = 0; k < ACCESS; ++k) {
                of_gamma[k] += g[k] * ((x[k] - centre) * rescale);
                of_beta[k] += g[k];
            }
        }
    }
#pragma unroll
    for (int k = 0; k < ACCESS; ++k) {
        shared[0][lane][place + k] = of_gamma[k];
        shared[1][lane][place + k] = of_beta[k];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 2 * COLUMNS; i += THREADS) {
        const int which = i / COLUMNS, here = i % COLUMNS;
        const Index target = (Index)blockIdx.x * COLUMNS + here;
        Wide sum = 0;
#pragma unroll
        for (int k = 0; k < DEEP; ++k) sum += shared[which][k][here];
        if (target < size) sums[(Offset)(2 * blockIdx.y + which) * size + target] = sum;
    }
}

// Sums the chunks of ABREAST columns; blocks along the second axis are those of gamma, and of beta.
extern "C" __global__ void __launch_bounds__(THREADS) layer_norm_chunks(
    const Wide *sums, Parameter *d_gamma, Parameter *d_beta, Index size, Index chunks) {
    __shared__ Wide shared[DEEP][ABREAST];
    const int lane = threadIdx.x / ABREAST, place = threadIdx.x % ABREAST;
    const Index column = (Index)blockIdx.x * ABREAST + place;
    Total found;
    if (column < size) {
#pragma unroll 4
        for (Index i = lane; i < chunks; i += DEEP) {
            found.add(sums[(Offset)(2 * i + blockIdx.y) * size + column]);
        }
    }
    shared[lane][place] = found.value();
    __syncthreads();
    if (lane || column >= size) return;
    Wide sum = 0;
#pragma unroll
    for (int k = 0; k < DEEP; ++k) sum += shared[k][place];
    write((blockIdx.y ? d_beta : d_gamma) + column, sum);
}

