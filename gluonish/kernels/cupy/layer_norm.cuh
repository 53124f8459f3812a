// LayerNorm and the gradient of its data, for layer_norm.cu and add_layer_norm.cu.
//
// A row is read once if it fits in registers; a longer one is read once to reduce it and once to compute
// the result.
//
// With ADDS the data are the sum of two arrays, which is written, too; with DROPS the first one goes
// through Dropout before. The gradient is then that of the sum: its head gradient may be the sum of TWO
// arrays; with PLUS an array is added to the result, and with DROPS the result is also written as it
// comes through Dropout. All values have the bits of separate operators.
#include "rows.cuh"

#ifndef ADDS
#define ADDS 0
#endif
#ifndef PLUS
#define PLUS 0
#endif
#include "layer_norm_macros.cuh"

// Mean and sum of squared deviations of numbers, joined group by group (T. Chan, G. Golub, R. LeVeque,
// Updating Formulae and a Pairwise Algorithm for Computing Sample Variances, 1979).
struct Moments {
    Wide count, mean, squares;

    __device__ Moments() : count(0), mean(0), squares(0) {}
    __device__ __forceinline__ void add(const Wide *values, int number) {
        Wide centre = 0, part = 0;
#pragma unroll
        for (int k = 0; k < number; ++k) centre += values[k];
        centre *= (Wide)1 / (Wide)number;  // a power of 2
#pragma unroll
        for (int k = 0; k < number; ++k) part += (values[k] - centre) * (values[k] - centre);
        const Wide delta = centre - mean, before = count;
        count += (Wide)number;
        const Wide weight = (Wide)number / count;
        mean += delta * weight;
        squares += part + delta * delta * before * weight;
    }
    // Joins the lanes of a row; ``share`` is 1 / the number of its elements.
    __device__ void over_row(Wide share) {
        const Wide centre = over_lanes(count * mean, Add()) * share;
        squares = over_lanes(squares + count * (mean - centre) * (mean - centre), Add());
        mean = centre;
    }
};

// Adds COUNT numbers to the factors' products with others, or to these, and rounds as operators do.
template <int COUNT>
__device__ __forceinline__ void add_rounded(
    const Wide *more, const Dropout &dropout, Offset number, Wide *values) {
#if DROPS
    dropout.apply<COUNT>(number, values);
    round_all<COUNT>(values);
#endif
#pragma unroll
    for (int i = 0; i < COUNT; ++i) values[i] += more[i];
    round_all<COUNT>(values);
}

// ``residual`` and ``out_sum`` are null without ADDS.
__device__ __forceinline__ void normalize(
    const Scalar *data, const Scalar *residual, const Parameter *gamma, const Parameter *beta,
    Scalar *out, Scalar *out_sum, Parameter *out_mean, Parameter *out_std, const Dropout &dropout,
    Index total, Index size, Wide eps, Wide share) {
    const Row row(total);
    const Offset start = (Offset)row.number * size;
#if HELD
    Wide values[HELD_ELEMENTS];
    load_held(data + start, size, row.lane, 0, values);
#if ADDS
    Wide more[HELD_ELEMENTS];
    load_held(residual + start, size, row.lane, 0, more);
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        if (!is_held(k, row.lane, size)) continue;
        const Offset at = start + held_at(k, row.lane);
        add_rounded<ACCESS>(more + k * ACCESS, dropout, at, values + k * ACCESS);
        if (row.inside) store_access(out_sum + at, values + k * ACCESS);
    }
#endif
    Wide sum = 0;
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) sum += values[i];
    Wide mean = over_lanes(sum, Add()) * share, rest = 0, squares = 0;
    for_held(size, row.lane, [&](int i) {
        const Wide off = values[i] - mean;
        rest += off;
        squares += off * off;
    });
    // What the mean lacks is known from the deviations, which are small.
    rest = over_lanes(rest, Add());
    squares = over_lanes(squares, Add());
    const Wide missing = rest * share, variance = (squares - rest * missing) * share;
    if (missing - missing == 0) mean += missing;
#else
#if ADDS
    Scalar *x = out_sum + start;
    const Scalar *y = residual + start;
    Index head = common_head(data + start, y, out + start, size);
    if (head != common_head(x, y, y, size)) head = size;
#if DROPS
    if ((start + head) % 4) head = size;
#endif
    auto load_row = [&](Index at, int count, Wide *values) {
        Wide more[VECTOR];
        load(data + start + at, count, values);
        load(y + at, count, more);
        if (count == 1) {
            add_rounded<1>(more, dropout, start + at, values);
        } else {
            add_rounded<VECTOR>(more, dropout, start + at, values);
        }
    };
    Wide shift;  // small numbers lose no digits
    load_row(0, 1, &shift);
#else
    const Scalar *x = data + start;
    const Index head = common_head(x, x, out + start, size);
    auto load_row = [&](Index at, int count, Wide *values) { load(x + at, count, values); };
    const Wide shift = widen(x[0]);  // small numbers lose no digits
#endif
    Moments moments;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide values[VECTOR];
        load_row(at, count, values);
#if ADDS
        if (row.inside) store(x + at, count, values);
#endif
#pragma unroll
        for (int k = 0; k < count; ++k) values[k] -= shift;
        moments.add(values, count);
    });
    moments.over_row(share);
    const Wide mean = shift + moments.mean, variance = moments.squares * share;
#endif
    if (!row.inside) return;
    const Wide std = sqrt(variance + eps), rescale = (Wide)1 / std;
    if (!row.lane) {
        write(out_mean + row.number, mean);
        write(out_std + row.number, std);
    }
#if HELD
    // A store after each access keeps the parameters of few in registers.
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        if (!is_held(k, row.lane, size)) continue;
        const Index at = held_at(k, row.lane);
        Wide slope[ACCESS], level[ACCESS], *found = values + k * ACCESS;
        load_access(gamma + at, slope);
        load_access(beta + at, level);
#pragma unroll
        for (int i = 0; i < ACCESS; ++i) found[i] = (found[i] - mean) * rescale * slope[i] + level[i];
        store_access(out + start + at, found);
    }
#else
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide values[VECTOR];
        load(x + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) {
            values[k] = (values[k] - mean) * rescale * read(gamma[at + k]) + read(beta[at + k]);
        }
        store(out + start + at, count, values);
    });
#endif
}

// ``other`` is null without TWO, ``plus`` without PLUS, ``dropped`` without DROPS.
__device__ __forceinline__ void data_gradient(
    const Scalar *grad, const Scalar *other, const Scalar *data, const Scalar *plus,
    const Parameter *gamma, const Parameter *mean, const Parameter *std, Scalar *out,
    Scalar *dropped, const Dropout &dropout, Index total, Index size, Wide share) {
    const Row row(total);
    const Offset start = (Offset)row.number * size;
    const Scalar *g = grad + start, *x = data + start;
    Scalar *y = out + start;
    const Wide centre = read(mean[row.number]), rescale = (Wide)1 / read(std[row.number]);
#if HELD
    Wide scaled[HELD_ELEMENTS], normalized[HELD_ELEMENTS], slopes[HELD_ELEMENTS];
    load_held(g, size, row.lane, 0, scaled);
#if TWO
    Wide more[HELD_ELEMENTS];
    load_held(other + start, size, row.lane, 0, more);
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) scaled[i] += more[i];
    round_all<HELD_ELEMENTS>(scaled);
#endif
    load_held(x, size, row.lane, centre, normalized);
    load_held(gamma, size, row.lane, 0, slopes);
    Wide along = 0, across = 0;
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) {
        scaled[i] *= slopes[i];
        normalized[i] = (normalized[i] - centre) * rescale;
        along += scaled[i];
        across += scaled[i] * normalized[i];
    }
    const Wide level = over_lanes(along, Add()) * share, slope = over_lanes(across, Add()) * share;
    if (!row.inside) return;
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) {
        scaled[i] = times(scaled[i] - (normalized[i] * slope + level), rescale);
    }
#if PLUS
    load_held(plus + start, size, row.lane, 0, normalized);
    round_all<HELD_ELEMENTS>(scaled);
#pragma unroll
    for (int i = 0; i < HELD_ELEMENTS; ++i) scaled[i] += normalized[i];
#endif
    store_held(y, size, row.lane, scaled);
#if DROPS
    round_all<HELD_ELEMENTS>(scaled);
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        if (!is_held(k, row.lane, size)) continue;
        const Offset at = start + held_at(k, row.lane);
        dropout.apply<ACCESS>(at, scaled + k * ACCESS);
        store_access(dropped + at, scaled + k * ACCESS);
    }
#endif
#else
    Index head = common_head(g, x, y, size);
#if TWO
    head = common_head(g, other + start, y, size) == head ? head : size;
#endif
#if PLUS
    head = common_head(g, plus + start, y, size) == head ? head : size;
#endif
#if DROPS
    head = common_head(g, dropped + start, y, size) == head && (start + head) % 4 == 0 ? head : size;
#endif
    auto load_gradients = [&](Index at, int count, Wide *gradients) {
        load(g + at, count, gradients);
#if TWO
        Wide more[VECTOR];
        load(other + start + at, count, more);
#pragma unroll
        for (int k = 0; k < count; ++k) gradients[k] += more[k];
        round_some(count, gradients);
#endif
    };
    Total along, across;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide gradients[VECTOR], values[VECTOR], sum = 0, product = 0;
        load_gradients(at, count, gradients);
        load(x + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) {
            const Wide scaled = gradients[k] * read(gamma[at + k]);
            sum += scaled;
            product += scaled * ((values[k] - centre) * rescale);
        }
        along.add(sum);
        across.add(product);
    });
    const Wide level = over_lanes(along.value(), Add()) * share;
    const Wide slope = over_lanes(across.value(), Add()) * share;
    if (!row.inside) return;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide gradients[VECTOR], values[VECTOR];
        load_gradients(at, count, gradients);
        load(x + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) {
            const Wide scaled = gradients[k] * read(gamma[at + k]);
            const Wide normalized = (values[k] - centre) * rescale;
            values[k] = times(scaled - (normalized * slope + level), rescale);
        }
#if PLUS
        load(plus + start + at, count, gradients);
        round_some(count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) values[k] += gradients[k];
#endif
        store(y + at, count, values);
#if DROPS
        round_some(count, values);
        if (count == 1) {
            dropout.apply<1>(start + at, values);
        } else {
            dropout.apply<VECTOR>(start + at, values);
        }
        store(dropped + start + at, count, values);
#endif
    });
#endif
}
