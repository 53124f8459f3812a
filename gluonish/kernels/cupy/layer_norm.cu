// LayerNorm and the gradient of its data, along the last axis; ``share`` is 1 / size.
//
// A row is read once if it fits in registers; a longer one is read once to reduce it and once to compute
// the result.
#include "rows.cuh"

#ifndef WIDE_PARAMETERS
#define WIDE_PARAMETERS 0
#endif
#if WIDE_PARAMETERS
typedef Wide Parameter;
#else
typedef Scalar Parameter;
#endif

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

extern "C" __global__ void __launch_bounds__(THREADS) layer_norm(
    const Scalar *data, const Parameter *gamma, const Parameter *beta, Scalar *out,
    Parameter *out_mean, Parameter *out_std, Index total, Index size, Wide eps, Wide share) {
    const Row row(total);
    const Offset start = (Offset)row.number * size;
    const Scalar *x = data + start;
#if HELD
    Wide values[HELD_ELEMENTS];
    load_held(x, size, row.lane, 0, values);
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
    const Wide base = widen(x[0]);  // small numbers lose no digits
    const Index head = common_head(x, x, out + start, size);
    Moments moments;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide values[VECTOR];
        load(x + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) values[k] -= base;
        moments.add(values, count);
    });
    moments.over_row(share);
    const Wide mean = base + moments.mean, variance = moments.squares * share;
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

extern "C" __global__ void __launch_bounds__(THREADS) layer_norm_data(
    const Scalar *grad, const Scalar *data, const Parameter *gamma, const Parameter *mean,
    const Parameter *std, Scalar *out, Index total, Index size, Wide share) {
    const Row row(total);
    const Offset start = (Offset)row.number * size;
    const Scalar *g = grad + start, *x = data + start;
    Scalar *y = out + start;
    const Wide centre = read(mean[row.number]), rescale = (Wide)1 / read(std[row.number]);
#if HELD
    Wide scaled[HELD_ELEMENTS], normalized[HELD_ELEMENTS], slopes[HELD_ELEMENTS];
    load_held(g, size, row.lane, 0, scaled);
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
        scaled[i] = (scaled[i] - (normalized[i] * slope + level)) * rescale;
    }
    store_held(y, size, row.lane, scaled);
#else
    const Index head = common_head(g, x, y, size);
    Total along, across;
    for_row(size, head, row.lane, [&](Index at, int count) {
        Wide gradients[VECTOR], values[VECTOR], sum = 0, product = 0;
        load(g + at, count, gradients);
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
        load(g + at, count, gradients);
        load(x + at, count, values);
#pragma unroll
        for (int k = 0; k < count; ++k) {
            const Wide scaled = gradients[k] * read(gamma[at + k]);
            const Wide normalized = (values[k] - centre) * rescale;
            values[k] = (scaled - (normalized * slope + level)) * rescale;
        }
        store(y + at, count, values);
    });
#endif
}

