// Pooling of (samples, channels, *extents), with three spatial axes. KERNEL0 .. PAD2 define the
// window, unless it is all elements of a channel (WHOLE).
//
// A pack is VECTOR adjacent elements: of VECTOR channels if channels are innermost in memory (LAST);
// then a row is a sample. Else a pack is one element, and a row is a channel of a sample.
#include "vectors.cuh"

#ifndef POOL
#define POOL 0  // 0 the maximum, 1 the mean, 2 the sum
#endif
#ifndef WITH_PAD
#define WITH_PAD 1  // whether means include padding
#endif
#ifndef WHOLE
#define WHOLE 0
#endif
#ifndef LAST
#define LAST 0
#endif
#ifndef VECTOR
#define VECTOR 1
#endif
#ifndef SMALL
#define SMALL 0  // whether a window has fewer than 256 elements
#endif
#define THREADS 256

// The index of an element in its window.
#if SMALL
typedef unsigned char First;
#else
typedef unsigned short First;
#endif

#if WHOLE
#define WINDOW                                                                               \
    const int kernel[] = {axes.extent[0], axes.extent[1], axes.extent[2]};                   \
    constexpr int stride[] = {1, 1, 1}, pad[] = {0, 0, 0}
#define ABREAST 4          // elements along the last axis that are loaded at once
#define SHARED(axis) 1     // windows at most that an element is in
#define UNROLLED 1
#else
#define WINDOW                                                                               \
    constexpr int kernel[] = {KERNEL0, KERNEL1, KERNEL2}, pad[] = {PAD0, PAD1, PAD2},        \
                  stride[] = {STRIDE0, STRIDE1, STRIDE2}
#define ABREAST (KERNEL2 < 4 ? KERNEL2 : 4)
#define SHARED(axis) ((KERNEL##axis - 1) / STRIDE##axis + 1)
#define UNROLLED (KERNEL0 * KERNEL1 * KERNEL2 <= 16 ? 4 : 1)
#endif
#define SHARED_ABREAST (SHARED(2) < 4 ? SHARED(2) : 4)

#define LOWEST ((Wide)-__uint_as_float(0x7f800000))  // the padding of a maximum

// Extents of the data, numbers of windows, and packs per element of a row. Numbers below 2^31 are
// divided by the three extents (or numbers of windows) and the columns, by factors and shifts.
struct Axes {
    int extent[3], count[3], columns;
    unsigned factor[4], shift[4];
};

__device__ inline Index divided(Index x, int by, const Axes &axes, int divisor) {
    if (sizeof(Index) > 4) return x / by;
    return (Index)((__umulhi((unsigned)x, axes.factor[divisor]) + (unsigned)x) >>
                   axes.shift[divisor]);
}

// A pack: its row, its indices along the axes, and its column.
struct Spot {
    Index row;
    int at[3], column;

    __device__ Spot(Index number, const int *extent, const Axes &axes) {
        Index element = LAST ? divided(number, axes.columns, axes, 3) : number;
        column = LAST ? (int)(number - element * axes.columns) : 0;
        Index line = divided(element, extent[2], axes, 2);
        at[2] = (int)(element - line * extent[2]);
        Index plane = divided(line, extent[1], axes, 1);
        at[1] = (int)(line - plane * extent[1]);
        row = divided(plane, extent[0], axes, 0);
        at[0] = (int)(plane - row * extent[0]);
    }
    // The first pack of the row, in this column, of an array of other extents.
    __device__ Index start(const int *extent, const Axes &axes) const {
        return row * extent[0] * extent[1] * extent[2] * axes.columns + column;
    }
};

// Number of elements that a window averages along an axis.
__device__ inline int length(int number, int kernel, int stride, int pad, int extent) {
    int start = number * stride - pad, end = start + kernel;
    int last = WITH_PAD ? extent + pad : extent;
    if (!WITH_PAD && start < 0) start = 0;
    if (end > last) end = last;
    return end - start > 1 ? end - start : 1;
}

__device__ inline Wide elements(
    int p0, int p1, int p2, const int *kernel, const int *stride, const int *pad, const Axes &axes) {
    return (Wide)length(p0, kernel[0], stride[0], pad[0], axes.extent[0]) *
           (Wide)length(p1, kernel[1], stride[1], pad[1], axes.extent[1]) *
           (Wide)length(p2, kernel[2], stride[2], pad[2], axes.extent[2]);
}

typedef Chunk<Scalar, VECTOR> Pack;
typedef Chunk<First, VECTOR> Indices;

template <class T>
__device__ inline void load(Chunk<T, VECTOR> &pack, const T *source, Index at) {
    pack.word = *(const decltype(pack.word) *)(source + (Offset)at * VECTOR);
}

// Calls ``visit(index in the window, value)`` for the elements of a window in order; those of the
// padding are ``fill``.
template <class Visit>
__device__ inline void for_each_element(
    const Scalar *data, const Spot &window, const Axes &axes, Wide fill, Visit visit) {
    WINDOW;
    const Index start = window.start(axes.extent, axes);
    Pack padding;
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) padding.item[j] = rounded(fill);
#pragma unroll UNROLLED
    for (int k0 = 0; k0 < kernel[0]; ++k0) {
        const int i0 = window.at[0] * stride[0] - pad[0] + k0;
#pragma unroll UNROLLED
        for (int k1 = 0; k1 < kernel[1]; ++k1) {
            const int i1 = window.at[1] * stride[1] - pad[1] + k1;
            const bool inside = i0 >= 0 && i0 < axes.extent[0] && i1 >= 0 && i1 < axes.extent[1];
            const Index line = ((Index)i0 * axes.extent[1] + i1) * axes.extent[2];
#pragma unroll UNROLLED
            for (int from = 0; from < kernel[2]; from += ABREAST) {
                Pack pack[ABREAST];  // all are loaded before the first is used
#pragma unroll
                for (int k = 0; k < ABREAST; ++k) {
                    const int i2 = window.at[2] * stride[2] - pad[2] + from + k;
                    pack[k] = padding;
                    if (inside && i2 >= 0 && i2 < axes.extent[2]) {
                        load(pack[k], data, start + (line + i2) * axes.columns);
                    }
                }
#pragma unroll
                for (int k = 0; k < ABREAST; ++k) {
                    if (from + k >= kernel[2]) continue;
                    Wide value[VECTOR];
#pragma unroll
                    for (int j = 0; j < VECTOR; ++j) value[j] = widen(pack[k].item[j]);
                    visit((k0 * kernel[1] + k1) * kernel[2] + from + k, value);
                }
            }
        }
    }
}

// The maximum; NaN if an operand is.
__device__ inline Wide maximum(Wide x, Wide y) {
#if KIND != 1 && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    Wide found;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(found) : "f"(x), "f"(y));
    return found;
#else
    return y > x || y != y ? y : x;
#endif
}

__device__ inline void combine(Wide &found, Wide here) {
#if POOL
    found += here;
#else
    found = maximum(found, here);
#endif
}

// One thread for each pack of windows.
extern "C" __global__ void pool(
    const Scalar *data, Scalar *out, Index total, const __grid_constant__ Axes axes) {
    Index number = thread_number();
    if (number >= total) return;
    Spot window(number, axes.count, axes);
    const Wide empty = POOL ? (Wide)0 : LOWEST;
    Wide found[VECTOR];
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) found[j] = empty;
    for_each_element(data, window, axes, empty, [&](int, const Wide *value) {
#pragma unroll
        for (int j = 0; j < VECTOR; ++j) combine(found[j], value[j]);
    });
#if POOL == 1
    WINDOW;
    const Wide size =
        elements(window.at[0], window.at[1], window.at[2], kernel, stride, pad, axes);
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) found[j] /= size;
#endif
    store_vector<VECTOR>(out + (Offset)number * VECTOR, found);
}

// The only window of each row, ``abreast`` of them in a block: a lane takes every lanes-th element.
// Results of lanes are combined in pairs.
extern "C" __global__ void pool_whole(
    const Scalar *data, Scalar *out, Index total, int size, int columns, int abreast) {
    __shared__ Wide partial[VECTOR * THREADS];
    const int lanes = THREADS / abreast;
    const int lane = LAST ? threadIdx.x / abreast : threadIdx.x % lanes;
    const int apart = LAST ? abreast : 1;  // threads of adjacent lanes
    Index number = (Index)blockIdx.x * abreast;
    number += LAST ? threadIdx.x % abreast : threadIdx.x / lanes;
    const bool works = number < total && lane < lanes;
    Wide found[VECTOR];
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) found[j] = POOL ? (Wide)0 : LOWEST;
    if (works) {
        const Index row = number / columns;
        const Index start = row * size * columns + (number - row * columns);
#pragma unroll 4
        for (int i = lane; i < size; i += lanes) {
            Wide value[VECTOR];
            load_vector<VECTOR>(data + (Offset)(start + (Index)i * columns) * VECTOR, value);
#pragma unroll
            for (int j = 0; j < VECTOR; ++j) combine(found[j], value[j]);
        }
    }
    Wide *here = partial + threadIdx.x;
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) here[j * THREADS] = found[j];
    for (int left = lanes, half; left > 1; left = half) {
        half = (left + 1) / 2;
        __syncthreads();
        if (lane + half < left) {
#pragma unroll
            for (int j = 0; j < VECTOR; ++j) {
                combine(here[j * THREADS], here[j * THREADS + half * apart]);
            }
        }
    }
    if (!works || lane) return;
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) {
        found[j] = POOL == 1 ? here[j * THREADS] / (Wide)size : here[j * THREADS];
    }
    store_vector<VECTOR>(out + (Offset)number * VECTOR, found);
}

// One thread for each pack of windows: the indices of the first maxima, counting padding; an index
// beyond the window if it has a NaN.
extern "C" __global__ void first_maximum(
    const Scalar *data, First *first, Index total, const __grid_constant__ Axes axes) {
    Index number = thread_number();
    if (number >= total) return;
    WINDOW;
    Spot window(number, axes.count, axes);
    Wide top[VECTOR];
    int found[VECTOR];
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) {
        top[j] = LOWEST;
        found[j] = 0;
    }
    for_each_element(data, window, axes, LOWEST, [&](int index, const Wide *value) {
#pragma unroll
        for (int j = 0; j < VECTOR; ++j) {
            if (value[j] > top[j]) found[j] = index;
            top[j] = maximum(top[j], value[j]);
        }
    });
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) {
        if (top[j] != top[j]) found[j] = kernel[0] * kernel[1] * kernel[2];
    }
    store_vector<VECTOR>(first + (Offset)number * VECTOR, found);
}

// The last window that may contain an element.
__device__ inline int last_window(int offset, int stride, int count) {
    int number = offset / stride;
    return number < count ? number : count - 1;
}

// Whether element j of a pack of indices is ``index``. Four bytes are compared in one instruction.
__device__ inline bool is_index(const Indices &found, int j, int index) {
#if SMALL && VECTOR >= 4
    const unsigned word = ((const unsigned *)&found)[j / 4];
    return ((word ^ (unsigned)index * 0x01010101u) & 0xffu << j % 4 * 8) == 0;
#else
    return found.item[j] == index;
#endif
}

// The part of a gradient that an element gets in a mean of ``size`` elements.
__device__ inline Wide part(Wide share, Wide size, Wide inverse) {
    if (POOL != 1) return share;
    return sizeof(Scalar) == 2 ? share * inverse : share / size;
}

// One thread for each pack of the data: it adds the gradients from its windows, the last first.
extern "C" __global__ void pool_backward(
    const Scalar *grad, const First *first, Scalar *result, Index total,
    const __grid_constant__ Axes axes) {
    Index number = thread_number();
    if (number >= total) return;
    WINDOW;
    Spot element(number, axes.extent, axes);
    const Index start = element.start(axes.count, axes);
    Wide sum[VECTOR];
    Pack none;
    Indices nowhere;
#pragma unroll
    for (int j = 0; j < VECTOR; ++j) {
        sum[j] = 0;
        none.item[j] = rounded(0);
        nowhere.item[j] = 0;
    }
    const int last0 = last_window(element.at[0] + pad[0], stride[0], axes.count[0]);
    const int last1 = last_window(element.at[1] + pad[1], stride[1], axes.count[1]);
    const int last2 = last_window(element.at[2] + pad[2], stride[2], axes.count[2]);
#pragma unroll UNROLLED
    for (int w0 = 0; w0 < SHARED(0); ++w0) {
        const int p0 = last0 - w0, k0 = element.at[0] + pad[0] - p0 * stride[0];
#pragma unroll UNROLLED
        for (int w1 = 0; w1 < SHARED(1); ++w1) {
            const int p1 = last1 - w1, k1 = element.at[1] + pad[1] - p1 * stride[1];
            if (p0 < 0 || k0 >= kernel[0] || p1 < 0 || k1 >= kernel[1]) continue;
            const Index line = ((Index)p0 * axes.count[1] + p1) * axes.count[2];
#pragma unroll UNROLLED
            for (int from = 0; from < SHARED(2); from += SHARED_ABREAST) {
                Pack share[SHARED_ABREAST];  // all are loaded before the first is used
                Indices found[SHARED_ABREAST];
#pragma unroll
                for (int w = 0; w < SHARED_ABREAST; ++w) {
                    const int p2 = last2 - from - w;
                    const Index window = start + (line + p2) * axes.columns;
                    share[w] = none;
                    found[w] = nowhere;
                    if (p2 >= 0 && element.at[2] + pad[2] - p2 * stride[2] < kernel[2]) {
                        load(share[w], grad, window);
                        if (POOL == 0) load(found[w], first, window);
                    }
                }
#pragma unroll
                for (int w = 0; w < SHARED_ABREAST; ++w) {
                    const int p2 = last2 - from - w;
                    const int k2 = element.at[2] + pad[2] - p2 * stride[2];
                    const Wide size =
                        POOL == 1 ? elements(p0, p1, p2, kernel, stride, pad, axes) : (Wide)1;
                    const Wide inverse = (Wide)1 / size;
#pragma unroll
                    for (int j = 0; j < VECTOR; ++j) {
                        const int index = (k0 * kernel[1] + k1) * kernel[2] + k2;
                        if (POOL || is_index(found[w], j, index)) {
                            sum[j] += part(widen(share[w].item[j]), size, inverse);
                        }
                    }
                }
            }
        }
    }
    store_vector<VECTOR>(result + (Offset)number * VECTOR, sum);
}
