// Batch normalization: sums over each channel, and elementwise kernels that use them.
//
// Elements of a channel are numbered across all samples. Runs of ``inner`` contiguous elements
// alternate with (channels - 1) * inner elements of other channels. Each block sums one chunk of one
// channel or, if inner is 1 (LAST), of 32 adjacent channels. Threads add groups of elements in Wide
// and the groups in float64, always in the same order. Sums of chunks are (chunks, 2, channels).
#include "lanes.cuh"

#ifndef LAST
#define LAST 0
#endif
#ifndef BOUNDS
#define BOUNDS 0
#endif
#define GROUP 16     // elements added in Wide
#define ELEMENTS 8   // elements of a thread in elementwise kernels
#if LAST
#define ABREAST 32
#else
#define ABREAST 1
#endif
#define LANES (THREADS / ABREAST)

// Iterates over the elements of a channel, LANES at a time.
struct Walk {
    Index at;
    int inside, inner, step_inside;
    Index step, wrap;

    __device__ Walk(Index number, int channel, int channels, int run) {
        Index row = number / (Index)run;
        inner = run;
        inside = (int)(number - row * run);
        at = (row * channels + channel) * run + inside;
        step_inside = LANES % run;
        step = (Index)(LANES / run) * channels * run + step_inside;
        wrap = (Index)(channels - 1) * run;
    }
    __device__ void advance() {
        at += step;
#if !LAST
        inside += step_inside;
        if (inside >= inner) {
            inside -= inner;
            at += wrap;
        }
#endif
    }
};

// Iterates over memory, THREADS elements at a time, and tracks the channel of an element.
struct ChannelOf {
    int channel, inside;

    __device__ ChannelOf(Index number, int channels, int inner) {
#if LAST
        channel = (int)(number % (Index)channels);
        inside = 0;
#else
        Index row = number / (Index)inner;
        inside = (int)(number - row * inner);
        channel = (int)(row % (Index)channels);
#endif
    }
    __device__ void advance(int channels, int inner, int step_channel, int step_inside) {
        channel += step_channel;
#if !LAST
        inside += step_inside;
        if (inside >= inner) {
            inside -= inner;
            ++channel;
        }
#endif
        if (channel >= channels) channel -= channels;
    }
};

// The last step of the statistics, in the first stage if a channel is one chunk, else in the second.
#define STATISTICS                                                                            \
    const Scalar *data, const Wide *gamma, Wide *moving_mean, Wide *moving_var, Wide *mean,   \
        Wide *inverse, Wide *scale, Index count, int channels, int inner, Wide eps,           \
        Wide momentum, Wide share, int fixed

__device__ inline void set_scale(
    int channel, Wide variance, const Wide *gamma, Wide *inverse, Wide *scale, Wide eps, int fixed) {
    Wide found = (Wide)1 / sqrt(variance + eps);
    inverse[channel] = found;
    scale[channel] = fixed ? found : found * gamma[channel];
}

__device__ inline void finish_statistics(int channel, Sum first, Sum second, STATISTICS) {
    Sum offset = first / (Sum)count;
    Sum square = second / (Sum)count - offset * offset;
    Wide variance = (Wide)(square < 0 ? 0 : square);
    Wide found = (Wide)((Sum)widen(data[(Index)channel * inner]) + offset);
    mean[channel] = found;
    moving_mean[channel] = moving_mean[channel] * momentum + found * share;
    moving_var[channel] = moving_var[channel] * momentum + variance * share;
    set_scale(channel, variance, gamma, inverse, scale, eps, fixed);
}

// Sums of elements and their squares, relative to the channel's first element. Within a group they
// are relative to the group's first, so that neither a large mean nor an outlier costs precision.
extern "C" __global__ void statistics(
    Sum *sums, Index chunk, const Scalar *data, const Wide *gamma, Wide *moving_mean,
    Wide *moving_var, Wide *mean, Wide *inverse, Wide *scale, Index count, int channels, int inner,
    Wide eps, Wide momentum, Wide share, int fixed) {
    __shared__ Sum partial[2 * THREADS];
    int lane = threadIdx.x / ABREAST;
    int channel = blockIdx.x * ABREAST + threadIdx.x % ABREAST;
    Index number = (Index)blockIdx.y * chunk + lane;
    Index end = (Index)(blockIdx.y + 1) * chunk < count ? (Index)(blockIdx.y + 1) * chunk : count;
    Sum first = 0, second = 0;
    if (channel < channels && number < end) {
        Sum shift = (Sum)widen(data[(Index)channel * inner]);
        Walk walk(number, channel, channels, inner);
        for (; number < end; number += GROUP * LANES) {
            // Issue all loads before the first use.
            Wide base = widen(data[walk.at]), sum = 0, squares = 0, value[GROUP];
#pragma unroll
            for (int k = 0; k < GROUP; ++k) {
                value[k] = number + k * LANES < end ? widen(data[walk.at]) : base;
                walk.advance();
            }
#pragma unroll
            for (int k = 0; k < GROUP; ++k) {
                Wide off = value[k] - base;
                sum += off;
                squares += off * off;
            }
            Index left = (end - number + LANES - 1) / LANES;
            int count_in_group = left < GROUP ? (int)left : GROUP;
            Sum step = (Sum)base - shift;
            first += count_in_group * step + (Sum)sum;
            second += (Sum)squares + 2 * step * (Sum)sum + count_in_group * step * step;
        }
    }
    add_lanes(partial, lane, LANES, ABREAST, first, second);
    if (lane || channel >= channels) return;
    if (gridDim.y == 1) {
        finish_statistics(channel, first, second, data, gamma, moving_mean, moving_var, mean,
                          inverse, scale, count, channels, inner, eps, momentum, share, fixed);
    } else {
        sums[(Index)(2 * blockIdx.y) * channels + channel] = first;
        sums[(Index)(2 * blockIdx.y + 1) * channels + channel] = second;
    }
}

// Adds the chunks of a channel, in one block; returns whether this thread has the sums.
__device__ inline bool add_chunks(
    const Sum *sums, int chunks, int channels, Sum &first, Sum &second) {
    __shared__ Sum partial[2 * THREADS];
    int channel = blockIdx.x;
    first = second = 0;
    for (int i = threadIdx.x; i < chunks; i += blockDim.x) {
        first += sums[(Index)(2 * i) * channels + channel];
        second += sums[(Index)(2 * i + 1) * channels + channel];
    }
    add_lanes(partial, threadIdx.x, blockDim.x, 1, first, second);
    return threadIdx.x == 0;
}

extern "C" __global__ void statistics_of_chunks(
    const Sum *sums, int chunks, const Scalar *data, const Wide *gamma, Wide *moving_mean,
    Wide *moving_var, Wide *mean, Wide *inverse, Wide *scale, Index count, int channels, int inner,
    Wide eps, Wide momentum, Wide share, int fixed) {
    Sum first, second;
    if (add_chunks(sums, chunks, channels, first, second)) {
        finish_statistics(blockIdx.x, first, second, data, gamma, moving_mean, moving_var, mean,
                          inverse, scale, count, channels, inner, eps, momentum, share, fixed);
    }
}

// Scale and inverse deviation from moving statistics.
extern "C" __global__ void moving_statistics(
     const Wide *gamma, const Wide *moving_mean, const Wide *moving_var, Wide *mean, Wide
    *inverse, Wide *scale, Index total, Wide eps, int fixed) {
    Index channel = thread_number();
    if (channel >= total) return;
    mean[channel] = moving_mean[channel];
    set_scale((int)channel, moving_var[channel], gamma, inverse, scale, eps, fixed);
}

extern "C" __global__ void normalize(
     const Scalar *data, const Wide *mean, const Wide *scale, const Wide *beta, Scalar *out,
    Index total, int channels, int inner, int step_channel, int step_inside) {
    Index start = (Index)blockIdx.x * (ELEMENTS * THREADS) + threadIdx.x;
    if (start >= total) return;
    Wide value[ELEMENTS];
#pragma unroll
    for (int k = 0; k < ELEMENTS; ++k) {
        if (start + k * THREADS < total) value[k] = widen(data[start + k * THREADS]);
    }
    ChannelOf at(start, channels, inner);
#pragma unroll
    for (int k = 0; k < ELEMENTS; ++k) {
        if (start + k * THREADS >= total) return;
        int c = at.channel;
        out[start + k * THREADS] = rounded((value[k] - mean[c]) * scale[c] + beta[c]);
        at.advance(channels, inner, step_channel, step_inside);
    }
}

// The gradient of the normalization's output: zero where the relu or clip after it is flat.
__device__ inline Wide masked(
    Wide grad, Wide centred, Wide scale, Wide beta, Wide low, Wide high) {
#if BOUNDS == 0
    return grad;
#else
    Wide normalized = widen(rounded(centred * scale + beta));
#if BOUNDS == 1
    return grad * (Wide)(normalized > low);
#else
    return grad * ((Wide)1 - (Wide)(normalized < low) - (Wide)(normalized > high));
#endif
#endif
}

// ``scale`` is the normalization's, or gamma if ``is_gamma`` is 1, or not read if it is 2.
#define SUMS                                                                                 \
    const Wide *mean, const Wide *inverse, const Wide *scale, Wide *d_gamma, Wide *d_beta,   \
        Wide *slope, Wide *offset, Wide *used_scale, Index count, int channels, int inner,   \
        int is_gamma, int fixed, int frozen

__device__ inline void finish_sums(int channel, Sum first, Sum second, SUMS) {
    Wide rescale = inverse[channel];
    Wide factor = is_gamma == 2 ? rescale
                : is_gamma == 1 ? rescale * scale[channel] : scale[channel];
    Wide sum = (Wide)first, projection = (Wide)(second * (Sum)rescale);
    Wide share = factor * (Wide)(-1 / (Sum)count);
    d_beta[channel] = sum;
    d_gamma[channel] = fixed ? (Wide)0 : projection;
    slope[channel] = frozen ? (Wide)0 : share * projection * rescale;
    offset[channel] = frozen ? (Wide)0 : share * sum;
    used_scale[channel] = factor;
}

extern "C" __global__ void gradient_sums(
     Sum *sums, Index chunk, const Scalar *grad, const Scalar *data, const Wide *beta, Wide low,
    Wide high, const Wide *mean, const Wide *inverse, const Wide *scale, Wide *d_gamma, Wide
    *d_beta, Wide *slope, Wide *offset, Wide *used_scale, Index count, int channels, int inner,
    int is_gamma, int fixed, int frozen) {
    __shared__ Sum partial[2 * THREADS];
    int lane = threadIdx.x / ABREAST;
    int channel = blockIdx.x * ABREAST + threadIdx.x % ABREAST;
    Index number = (Index)blockIdx.y * chunk + lane;
    Index end = (Index)(blockIdx.y + 1) * chunk < count ? (Index)(blockIdx.y + 1) * chunk : count;
    Sum first = 0, second = 0;
    if (channel < channels && number < end) {
        Wide centre = mean[channel], factor = scale[channel], bias = beta[channel];
        Walk walk(number, channel, channels, inner);
        for (; number < end; number += GROUP * LANES) {
            Wide sum = 0, projection = 0, head[GROUP], value[GROUP];
#pragma unroll
            for (int k = 0; k < GROUP; ++k) {
                bool inside = number + k * LANES < end;
                head[k] = inside ? widen(grad[walk.at]) : (Wide)0;
                value[k] = inside ? widen(data[walk.at]) : centre;
                walk.advance();
            }
#pragma unroll
            for (int k = 0; k < GROUP; ++k) {
                Wide z = value[k] - centre;
                Wide a = masked(head[k], z, factor, bias, low, high);
                sum += a;
                projection += a * z;
            }
            first += (Sum)sum;
            second += (Sum)projection;
        }
    }
    add_lanes(partial, lane, LANES, ABREAST, first, second);
    if (lane || channel >= channels) return;
    if (gridDim.y == 1) {
        finish_sums(channel, first, second, mean, inverse, scale, d_gamma, d_beta, slope, offset,
                    used_scale, count, channels, inner, is_gamma, fixed, frozen);
    } else {
        sums[(Index)(2 * blockIdx.y) * channels + channel] = first;
        sums[(Index)(2 * blockIdx.y + 1) * channels + channel] = second;
    }
}

extern "C" __global__ void gradient_sums_of_chunks(
    const Sum *sums, int chunks, const Wide *mean, const Wide *inverse, const Wide *scale, Wide
    *d_gamma, Wide *d_beta, Wide *slope, Wide *offset, Wide *used_scale, Index count, int
    channels, int inner, int is_gamma, int fixed, int frozen) {
    Sum first, second;
    if (add_chunks(sums, chunks, channels, first, second)) {
        finish_sums(blockIdx.x, first, second, mean, inverse, scale, d_gamma, d_beta, slope,
                    offset, used_scale, count, channels, inner, is_gamma, fixed, frozen);
    }
}

extern "C" __global__ void data_gradient(
     const Scalar *grad, const Scalar *data, const Wide *mean, const Wide *scale, const Wide
    *beta, const Wide *slope, const Wide *offset, Scalar *out, Index total, int channels, int
    inner, int step_channel, int step_inside, Wide low, Wide high) {
    Index start = (Index)blockIdx.x * (ELEMENTS * THREADS) + threadIdx.x;
    if (start >= total) return;
    Wide head[ELEMENTS], value[ELEMENTS];
#pragma unroll
    for (int k = 0; k < ELEMENTS; ++k) {
        if (start + k * THREADS < total) {
            head[k] = widen(grad[start + k * THREADS]);
            value[k] = widen(data[start + k * THREADS]);
        }
    }
    ChannelOf at(start, channels, inner);
#pragma unroll
    for (int k = 0; k < ELEMENTS; ++k) {
        if (start + k * THREADS >= total) return;
        int c = at.channel;
        Wide z = value[k] - mean[c];
        Wide a = masked(head[k], z, scale[c], beta[c], low, high);
        out[start + k * THREADS] = rounded(a * scale[c] + (z * slope[c] + offset[c]));
        at.advance(channels, inner, step_channel, step_inside);
    }
}
