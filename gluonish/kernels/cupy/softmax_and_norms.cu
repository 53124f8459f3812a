// LayerNorm, softmax, log_softmax, and their gradients, along the last axis.
//
// LANES threads compute a row, and a block computes THREADS / LANES rows. A row is read several times,
// but from memory only once if it fits the caches.
#include "lanes.cuh"

#ifndef LANES
#define LANES 32
#endif
#ifndef LOG
#define LOG 0
#endif
#ifndef WIDE_PARAMETERS
#define WIDE_PARAMETERS 0
#endif
#define ROWS (THREADS / LANES)
#define GROUP 16    // elements added in Wide
#define ABREAST 32  // columns of a block

#if WIDE_PARAMETERS
typedef Wide Parameter;
__device__ inline Wide read(Parameter x) { return x; }
__device__ inline Parameter made(Wide x) { return x; }
#else
typedef Scalar Parameter;
__device__ inline Wide read(Parameter x) { return widen(x); }
__device__ inline Parameter made(Wide x) { return rounded(x); }
#endif

// Reduces two numbers over the lanes of each row; every lane gets the sums.
__device__ inline void add_row(Sum *partial, Sum &first, Sum &second) {
    int lane = threadIdx.x % LANES, start = threadIdx.x - lane;
    __syncthreads();  // other threads may still read the previous sums
    add_lanes(partial, lane, LANES, 1, first, second);
    __syncthreads();
    first = partial[start];
    second = partial[start + THREADS];
}

// An accumulator with few roundings: groups of GROUP numbers in Wide, and the groups in float64.
struct Total {
    Wide partial;
    Sum sum;
    int count;

    __device__ Total() : partial(0), sum(0), count(0) {}
    __device__ void add(Wide x) {
        partial += x;
        if (++count == GROUP) {
            sum += (Sum)partial;
            partial = 0;
            count = 0;
        }
    }
    __device__ Sum value() { return sum + (Sum)partial; }
};

extern "C" __global__ void layer_norm(
    const Scalar *data, const Parameter *gamma, const Parameter *beta, Scalar *out,
    Parameter *out_mean, Parameter *out_std, Index total, Index size, Wide eps) {
    __shared__ Sum shared[2 * THREADS];
    Index row = (Index)blockIdx.x * ROWS + threadIdx.x / LANES;
    int lane = threadIdx.x % LANES;
    bool inside = row < total;
    const Scalar *x = data + (Offset)(inside ? row : 0) * size;
    Total all, squares;
    for (Index i = lane; i < size; i += LANES) all.add(widen(x[i]));
    Sum first = all.value(), second = 0;
    add_row(shared, first, second);
    Wide mean = (Wide)(first / (Sum)size);
    for (Index i = lane; i < size; i += LANES) {
        Wide off = widen(x[i]) - mean;
        squares.add(off * off);
    }
    first = squares.value();
    add_row(shared, first, second);
    Wide std = sqrt((Wide)(first / (Sum)size) + eps);
    if (!inside) return;
    if (!lane) {
        out_mean[row] = made(mean);
        out_std[row] = made(std);
    }
    Wide rescale = (Wide)1 / std;
    Scalar *y = out + (Offset)row * size;
    for (Index i = lane; i < size; i += LANES) {
        y[i] = rounded((widen(x[i]) - mean) * rescale * read(gamma[i]) + read(beta[i]));
    }
}

extern "C" __global__ void layer_norm_data(
    const Scalar *grad, const Scalar *data, const Parameter *gamma, const Parameter *mean,
    const Parameter *std, Scalar *out, Index total, Index size) {
    __shared__ Sum shared[2 * THREADS];
    Index row = (Index)blockIdx.x * ROWS + threadIdx.x / LANES;
    int lane = threadIdx.x % LANES;
    bool inside = row < total;
    Offset start = (Offset)(inside ? row : 0) * size;
    const Scalar *g = grad + start, *x = data + start;
    Wide centre = read(mean[inside ? row : 0]), rescale = (Wide)1 / read(std[inside ? row : 0]);
    Total along, across;
    for (Index i = lane; i < size; i += LANES) {
        Wide scaled = widen(g[i]) * read(gamma[i]);
        along.add(scaled);
        across.add(scaled * ((widen(x[i]) - centre) * rescale));
    }
    Sum first = along.value(), second = across.value();
    add_row(shared, first, second);
    if (!inside) return;
    Wide level = (Wide)(first / (Sum)size), slope = (Wide)(second / (Sum)size);
    for (Index i = lane; i < size; i += LANES) {
        Wide scaled = widen(g[i]) * read(gamma[i]);
        Wide normalized = (widen(x[i]) - centre) * rescale;
        out[start + i] = rounded((scaled - (normalized * slope + level)) * rescale);
    }
}

// Gradients of gamma and beta: each block sums ``chunk`` rows, (chunks, 2, size).
extern "C" __global__ void layer_norm_sums(
    const Scalar *grad, const Scalar *data, const Parameter *mean, const Parameter *std, Sum *sums,
    Index total, Index size, Index chunk) {
    __shared__ Sum shared[2 * THREADS];
    int lane = threadIdx.x / ABREAST;
    Index column = (Index)blockIdx.x * ABREAST + threadIdx.x % ABREAST;
    Index row = (Index)blockIdx.y * chunk + lane;
    Index end = (Index)(blockIdx.y + 1) * chunk < total ? (Index)(blockIdx.y + 1) * chunk : total;
    Total of_gamma, of_beta;
    if (column < size) {
        for (; row < end; row += THREADS / ABREAST) {
            Offset at = (Offset)row * size + column;
            Wide g = widen(grad[at]);
            of_gamma.add(g * ((widen(data[at]) - read(mean[row])) / read(std[row])));
            of_beta.add(g);
        }
    }
    Sum first = of_gamma.value(), second = of_beta.value();
    add_lanes(shared, lane, THREADS / ABREAST, ABREAST, first, second);
    if (lane || column >= size) return;
    sums[(Offset)(2 * blockIdx.y) * size + column] = first;
    sums[(Offset)(2 * blockIdx.y + 1) * size + column] = second;
}

// One thread for each column.
extern "C" __global__ void layer_norm_chunks(
    const Sum *sums, Parameter *d_gamma, Parameter *d_beta, Index total, int chunks) {
    Index column = thread_number();
    if (column >= total) return;
    Sum first = 0, second = 0;
    for (int i = 0; i < chunks; ++i) {
        first += sums[(Offset)(2 * i) * total + column];
        second += sums[(Offset)(2 * i + 1) * total + column];
    }
    d_gamma[column] = made((Wide)first);
    d_beta[column] = made((Wide)second);
}

// The maximum over the lanes of each row, in every lane; may lose NaN.
__device__ inline Wide largest(Sum *partial, Wide found) {
    int lane = threadIdx.x % LANES, here = threadIdx.x;
    partial[here] = (Sum)found;
    for (int half = LANES / 2; half; half /= 2) {
        __syncthreads();
        if (lane < half && partial[here + half] > partial[here]) partial[here] = partial[here + half];
    }
    __syncthreads();
    return (Wide)partial[here - lane];
}

extern "C" __global__ void softmax(
    const Scalar *data, Scalar *out, Index total, Index size, Wide factor) {
    __shared__ Sum shared[2 * THREADS];
    Index row = (Index)blockIdx.x * ROWS + threadIdx.x / LANES;
    int lane = threadIdx.x % LANES;
    bool inside = row < total;
    Offset start = (Offset)(inside ? row : 0) * size;
    const Scalar *x = data + start;
    Wide top = widen(x[0]) * factor;
    for (Index i = lane; i < size; i += LANES) {
        Wide here = widen(x[i]) * factor;
        top = here > top ? here : top;
    }
    top = largest(shared, top);
    Total all;
    for (Index i = lane; i < size; i += LANES) all.add(exp(widen(x[i]) * factor - top));
    Sum first = all.value(), second = 0;
    add_row(shared, first, second);
    if (!inside) return;
#if LOG
    Wide level = log((Wide)first);
    for (Index i = lane; i < size; i += LANES) {
        out[start + i] = rounded(widen(x[i]) * factor - top - level);
    }
#else
    Wide share = (Wide)1 / (Wide)first;
    for (Index i = lane; i < size; i += LANES) {
        out[start + i] = rounded(exp(widen(x[i]) * factor - top) * share);
    }
#endif
}

extern "C" __global__ void softmax_backward(
    const Scalar *grad, const Scalar *out, Scalar *result, Index total, Index size, Wide factor) {
    __shared__ Sum shared[2 * THREADS];
    Index row = (Index)blockIdx.x * ROWS + threadIdx.x / LANES;
    int lane = threadIdx.x % LANES;
    bool inside = row < total;
    Offset start = (Offset)(inside ? row : 0) * size;
    const Scalar *g = grad + start, *y = out + start;
    Total all;
    for (Index i = lane; i < size; i += LANES) {
#if LOG
        all.add(widen(g[i]));
#else
        all.add(widen(g[i]) * widen(y[i]));
#endif
    }
    Sum first = all.value(), second = 0;
    add_row(shared, first, second);
    if (!inside) return;
    Wide level = (Wide)first;
    for (Index i = lane; i < size; i += LANES) {
#if LOG
        Wide found = widen(g[i]) - exp(widen(y[i])) * level;
#else
        Wide found = widen(g[i]) * widen(y[i]) - widen(y[i]) * level;
#endif
        result[start + i] = rounded(found * factor);
    }
}
