// One element of log_softmax per row, and its gradient: each in one pass over the scores.
//
// Scores are read as they are, computed in Wide, and never stored otherwise. Along the last axis LANES
// threads compute a row; along another, elements of a row are ``inner`` apart, and a thread computes
// one row, so that a warp reads adjacent elements. Of each row are stored the maximum, and the
// logarithm of the sum of exponentials after subtracting it.
#include "rows.cuh"

#ifndef LABEL
#define LABEL 24
#endif
#ifndef WRAP
#define WRAP 0
#endif
#ifndef WIDE_LOSS
#define WIDE_LOSS 0
#endif

// LABEL is the cudaDataType of class indices.
#if LABEL == 2
#include <cuda_fp16.h>
typedef __half Label;
__device__ inline double number(Label x) { return __half2float(x); }
#elif LABEL == 14
#include <cuda_bf16.h>
typedef __nv_bfloat16 Label;
__device__ inline double number(Label x) { return __bfloat162float(x); }
#elif LABEL == 0
typedef float Label;
__device__ inline double number(Label x) { return x; }
#elif LABEL == 1
typedef double Label;
__device__ inline double number(Label x) { return x; }
#elif LABEL == 3
typedef signed char Label;
#elif LABEL == 8
typedef unsigned char Label;
#elif LABEL == 10
typedef int Label;
#else
typedef long long Label;
#endif

#if WIDE_LOSS
typedef Wide Loss;
#else
typedef Scalar Loss;
#endif

// The class of a row, clipped or wrapped to [0, size). Numbers that int64 has not are below all.
__device__ inline Index class_of(const Label *labels, Index row, Index size) {
#if LABEL < 3 || LABEL == 14
    const double value = number(labels[row]);
    const bool fits = value > -9e18 && value < 9e18;
    long long at = fits ? (long long)value : -0x7fffffffffffffffLL - 1;
#else
    long long at = labels[row];
#endif
    const long long count = (long long)size;
#if WRAP
    at %= count;
    return (Index)(at < 0 ? at + count : at);
#else
    return (Index)(at < 0 ? 0 : at < count ? at : count - 1);
#endif
}

__device__ inline void store_row(
    const Exponentials &found, Wide sum, Wide picked, Wide scale, Index row, Loss *out, Wide *tops,
    Wide *logs) {
    const Wide level = log(sum);
    write(out + row, (picked - found.top - level) * scale + 0); // zeros are positive
    tops[row] = found.top;
    logs[row] = level;
}

extern "C" __global__ void __launch_bounds__(BOUNDS) log_softmax_pick(
    const Scalar *data, const Label *labels, Loss *out, Wide *tops, Wide *logs, Index total,
    Index size, Wide scale) {
    const Row row(total);
    const Scalar *x = data + (Offset)row.number * size;
    Exponentials found;
    for_row(size, before_vector(x), row.lane, [&](Index at, int count) {
        Wide values[VECTOR];
        load(x + at, count, values);
        found.add(values, count);
    });
    const Wide sum = found.over_row();
    if (row.lane || !row.inside) return;
    const Wide picked = widen(x[class_of(labels, row.number, size)]);
    store_row(found, sum, picked, scale, row.number, out, tops, logs);
}

// ``result`` may be ``data``.
extern "C" __global__ void __launch_bounds__(BOUNDS) log_softmax_pick_backward(
    const Loss *grad, const Scalar *data, const Label *labels, const Wide *tops, const Wide *logs,
    Scalar *result, Index total, Index size, Wide scale) {
    const Row row(total);
    if (!row.inside) return;
    const Offset start = (Offset)row.number * size;
    const Scalar *x = data + start;
    Scalar *y = result + start;
    const Wide g = read(grad[row.number]) * scale, top = tops[row.number], level = logs[row.number];
    const Index chosen = class_of(labels, row.number, size), head = before_vector(x);
    const bool alike = head == before_vector(y);
    for_row(size, alike ? head : size, row.lane, [&](Index at, int count) {
        Wide values[VECTOR];
        load(x + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) values[k] = -g * exponential(values[k] - top - level);
        if (chosen - at < (Index)count) {
#pragma unroll
            for (int k = 0; k < count; ++k) values[k] += at + k == chosen ? g : (Wide)0;
        }
        store(y + at, count, values);
    });
}

extern "C" __global__ void __launch_bounds__(BOUNDS) log_softmax_pick_columns(
    const Scalar *data, const Label *labels, Loss *out, Wide *tops, Wide *logs, Index total,
    Index size, Index inner, Wide scale) {
    const Index row = thread_number();
    if (row >= total) return;
    const Scalar *x = data + (Offset)(row / inner) * size * inner + row % inner;
    Exponentials found;
    for (Index at = 0; at < size; ++at) {
        const Wide values[1] = {widen(x[(Offset)at * inner])};
        found.add(values, 1);
    }
    const Wide sum = found.of_thread();
    const Wide picked = widen(x[(Offset)class_of(labels, row, size) * inner]);
    store_row(found, sum, picked, scale, row, out, tops, logs);
}

// ``result`` may be ``data``.
extern "C" __global__ void __launch_bounds__(BOUNDS) log_softmax_pick_columns_backward(
    const Loss *grad, const Scalar *data, const Label *labels, const Wide *tops, const Wide *logs,
    Scalar *result, Index total, Index size, Index inner, Wide scale) {
    const Index row = thread_number();
    if (row >= total) return;
    const Offset start = (Offset)(row / inner) * size * inner + row % inner;
    const Wide g = read(grad[row]) * scale, top = tops[row], level = logs[row];
    const Index chosen = class_of(labels, row, size);
    for (Index i = 0; i < size; ++i) {
        const Offset at = start + (Offset)i * inner;
        const Wide found = -g * exponential(widen(data[at]) - top - level);
        result[at] = rounded(i == chosen ? found + g : found);
    }
}
