// softmax, log_softmax, and their gradient, along the last axis.
//
// A row is read once if it fits in registers; a longer one is read once to reduce it and once to compute
// the result.
#include "rows.cuh"

#ifndef LOG
#define LOG 0
#endif

extern "C" __global__ void __launch_bounds__(BOUNDS) softmax(
    const Scalar *data, Scalar *out, Index total, Index size, Wide factor) {
    const Row row(total);
    const Offset start = (Offset)row.number * size;
    const Scalar *x = data + start;
    Scalar *y = out + start;
#if HELD
    Wide values[HELD_ELEMENTS], top = -INFINITE, sum = 0;
    load_held(x, size, row.lane, factor < 0 ? INFINITE : -INFINITE, values);
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) {
        values[i] *= factor;
        top = fmax(top, values[i]);
    }
    top = over_lanes(top, Most());
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) {
        values[i] -= top;
        const Wide found = exponential(values[i]);
        sum += found;
        if (!LOG) values[i] = found;
    }
    sum = over_lanes(sum, Add());
    if (!row.inside) return;
    const Wide level = LOG ? log(sum) : (Wide)1 / sum;
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) values[i] = LOG ? values[i] - level : values[i] * level;
    store_held(y, size, row.lane, values);
#else
    const Index head = common_head(x, x, y, size);
    Exponentials found;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide values[VECTOR];
        load(x + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) values[k] *= factor;
        found.add(values, count);
    });
    const Wide sum = found.over_row(), top = found.top;
    if (!row.inside) return;
    const Wide level = LOG ? log(sum) : (Wide)1 / sum;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide values[VECTOR];
        load(x + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) {
            const Wide off = values[k] * factor - top;
            values[k] = LOG ? off - level : exponential(off) * level;
        }
        store(y + at, count, values);
    });
#endif
}

// The term of an element in the sum of its row.
__device__ inline Wide term(Wide g, Wide y) { return LOG ? g : g * y; }

// The gradient of an element, from the sum of its row.
__device__ inline Wide gradient(Wide g, Wide y, Wide sum) {
    return LOG ? g - exponential(y) * sum : y * (g - sum);
}

extern "C" __global__ void __launch_bounds__(BOUNDS) softmax_backward(
    const Scalar *grad, const Scalar *out, Scalar *result, Index total, Index size, Wide factor) {
    const Row row(total);
    const Offset start = (Offset)row.number * size;
    const Scalar *g = grad + start, *y = out + start;
    Scalar *target = result + start;
#if HELD
    Wide gradients[HELD_ELEMENTS], values[HELD_ELEMENTS], sum = 0;
    load_held(g, size, row.lane, 0, gradients);
    load_held(y, size, row.lane, 0, values);
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) sum += term(gradients[i], values[i]);
    sum = over_lanes(sum, Add());
    if (!row.inside) return;
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) {
        values[i] = gradient(gradients[i], values[i], sum) * factor;
    }
    store_held(target, size, row.lane, values);
#else
    const Index head = common_head(g, y, target, size);
    Total all;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide gradients[VECTOR], values[VECTOR], part = 0;
        load(g + at, count, gradients);
        if (!LOG) load(y + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) part += LOG ? gradients[k] : gradients[k] * values[k];
        all.add(part);
    });
    const Wide sum = over_lanes(all.value(), Add());
    if (!row.inside) return;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide gradients[VECTOR], values[VECTOR];
        load(g + at, count, gradients);
        load(y + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) values[k] = gradient(gradients[k], values[k], sum) * factor;
        store(target + at, count, values);
    });
#endif
}
