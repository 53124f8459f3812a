// Batch normalization: sums over each channel, and elementwise kernels that use them.
//
// A pack is VECTOR adjacent elements: of one channel, or, if channels are innermost (LAST), of
// VECTOR channels. The packs of a column (a channel, or VECTOR channels) are numbered across all
// samples. Runs of ``run`` adjacent packs of a column alternate with those of other columns.
//
// Each block sums one chunk of ``abreast`` adjacent columns (1 unless LAST), in lanes: a lane adds
// every lanes-th pack of its column. It adds groups of packs in Wide and the groups in float64,
// always in the same order. Sums of chunks are (chunks, 2, channels), behind them those of FAN chunks
// each, and so on.
#include "vectors.cuh"
#include "last_block.cuh"

typedef double Sum;

#ifndef LAST
#define LAST 0
#endif
#ifndef BOUNDS
#define BOUNDS 0
#endif
#ifndef VECTOR
#define VECTOR 1
#endif
#ifndef ACCESS
#define ACCESS VECTOR  // elements of a pack that are accessed at once; fewer at unaligned addresses
#endif
#define THREADS 256
#if LAST
#define COLUMNS VECTOR  // channels of a thread
#define COLUMN(j) (j)   // the column of element j of a pack
#else
#define COLUMNS 1
#define COLUMN(j) 0
#endif
#define LOADS (VECTOR < 4 ? 16 / VECTOR : 4)   // packs of an array that a thread loads at once
#define PAIRS (COLUMNS == 8 ? 2 : LOADS)       // of two arrays, with the sums of 8 channels
#if LAST && VECTOR > 1
#define GROUP (sizeof(Scalar) == 2 ? 32 : 16)  // packs added in Wide
#else
#define GROUP LOADS
#endif

// x * y + z without contraction, as the kernels of elementwise programs compute it.
#if KIND == 1
__device__ inline Wide scaled(Wide x, Wide y, Wide z) { return __dadd_rn(__dmul_rn(x, y), z); }
#else
__device__ inline Wide scaled(Wide x, Wide y, Wide z) { return __fadd_rn(__fmul_rn(x, y), z); }
#endif

__device__ inline void load_pack(const Scalar *data, Index at, Wide *value) {
#pragma unroll
    for (int j = 0; j < VECTOR; j += ACCESS) {
        load_vector<ACCESS>(data + (Offset)at * VECTOR + j, value + j);
    }
}

__device__ inline void store_pack(Scalar *out, Index at, const Wide *value) {
#pragma unroll
    for (int j = 0; j < VECTOR; j += ACCESS) {
        store_vector<ACCESS>(out + (Offset)at * VECTOR + j, value + j);
    }
}

// Iterates over the packs of a column, ``lanes`` at a time.
struct Walk {
    Index at, step, wrap;
    int inside, run, step_inside;

    __device__ Walk(Index number, int column, int columns, int run, int lanes) : run(run) {
#if LAST
        at = number * columns + column;
        step = (Index)lanes * columns;
#else
        Index row = number / (Index)run;
        inside = (int)(number - row * run);
        at = (row * columns + column) * run + inside;
        step_inside = lanes % run;
        step = (Index)(lanes / run) * columns * run + step_inside;
        wrap = (Index)(columns - 1) * run;
#endif
    }
    __device__ void advance() {
        at += step;
#if !LAST
        inside += step_inside;
        if (inside >= run) {
            inside -= run;
            at += wrap;
        }
#endif
    }
};

// What a thread of a block that sums has to add.
struct Task {
    int abreast, lanes, lane, column, columns;
    Index number, end;  // of packs of the column

    __device__ Task(Index chunk, Index count, int channels, int abreast) : abreast(abreast) {
#if LAST
        columns = channels / VECTOR;
#else
        columns = channels;
#endif
        lanes = THREADS / abreast;
        lane = threadIdx.x / abreast;
        column = blockIdx.x * abreast + threadIdx.x % abreast;
        number = (Index)blockIdx.y * chunk + lane;
        end = (Index)(blockIdx.y + 1) * chunk;
        Index packs = LAST ? count : count / VECTOR;
        if (packs < end) end = packs;
    }
    __device__ bool works() const { return lane < lanes && column < columns && number < end; }
    __device__ bool ends() const { return lane == 0 && column < columns; }
    __device__ int channel(int column_of_thread) const { return column * COLUMNS + column_of_thread; }
};

// Adds the sums of the lanes of each column, in pairs; lane 0 has the results.
template <int COUNT>
__device__ inline void add_lanes(int lane, int lanes, int abreast, Sum *first, Sum *second) {
    __shared__ Sum partial[2 * COUNT * THREADS];
    Sum *here = partial + threadIdx.x;
#pragma unroll
    for (int j = 0; j < COUNT; ++j) {
        here[2 * j * THREADS] = first[j];
        here[(2 * j + 1) * THREADS] = second[j];
    }
    for (int left = lanes, half; left > 1; left = half) {
        half = (left + 1) / 2;
        __syncthreads();
        if (lane + half < left) {
#pragma unroll
            for (int j = 0; j < 2 * COUNT; ++j) {
                here[j * THREADS] += here[j * THREADS + half * abreast];
            }
        }
    }
#pragma unroll
    for (int j = 0; j < COUNT; ++j) {
        first[j] = here[2 * j * THREADS];
        second[j] = here[(2 * j + 1) * THREADS];
    }
}

__device__ inline void store_sums(
    Sum *sums, const Task &task, int channels, const Sum *first, const Sum *second) {
    Sum *target = sums + (Index)(2 * blockIdx.y) * channels + task.channel(0);
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) {
        target[j] = first[j];
        target[channels + j] = second[j];
    }
}

// Loads packs of a column; of those beyond its end ``fill``, a number for each channel, if not null.
template <bool WHOLE, int COUNT>
__device__ inline void load_packs(
    const Scalar *data, Walk walk, const Task &task, Index number, const Wide *fill,
    Wide (*value)[VECTOR]) {
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        if (WHOLE || number + k * task.lanes < task.end) {
            load_pack(data, walk.at, value[k]);
        } else {
#pragma unroll
            for (int j = 0; j < VECTOR; ++j) value[k][j] = fill ? fill[COLUMN(j)] : (Wide)0;
        }
        walk.advance();
    }
}

// Adds the sums of chunks of the ``width`` channels that a block has: the last block of FAN chunks
// adds theirs, the last of those adds what they found, and so on. Returns whether this thread has the
// sums of ``channel``.
__device__ inline bool add_chunks(
    Sum *sums, unsigned *counters, int channels, int width, int &channel, Sum &first, Sum &second) {
    const int lane = threadIdx.x / width, lanes = THREADS / width;
    channel = blockIdx.x * width + threadIdx.x % width;
    const bool works = lane < lanes && channel < channels;
    for (int count = gridDim.y, at = blockIdx.y, groups; count > 1; count = groups) {
        groups = (count + FAN - 1) / FAN;
        at /= FAN;
        const int members = at < groups - 1 ? FAN : count - at * FAN;
        if (!is_last(counters + at * gridDim.x + blockIdx.x, members)) return false;
        first = second = 0;
        if (works) {
            const Sum *source = sums + (Index)(2 * (at * FAN + lane)) * channels + channel;
            const Index step = (Index)(2 * lanes) * channels;
#pragma unroll 8
            for (int i = lane; i < members; i += lanes, source += step) {  // partial sums
                first += source[0];
                second += source[channels];
            }
        }
        add_lanes<1>(lane, lanes, width, &first, &second);
        counters += groups * gridDim.x;
        sums += (Index)(2 * count) * channels;
        if (groups > 1 && works && lane == 0) {
            sums[(Index)(2 * at) * channels + channel] = first;
            sums[(Index)(2 * at + 1) * channels + channel] = second;
        }
    }
    return works && lane == 0;
}

// Calls ``finish(channel, first, second)`` once for each channel of the blocks along y, with the sums
// of all chunks; ``first`` and ``second`` are those of the block's lane 0.
template <class Finish>
__device__ inline void for_each_sum(
    Sum *sums, unsigned *counters, const Task &task, int channels, const Sum *first,
    const Sum *second, Finish finish) {
    if (gridDim.y == 1) {
        if (!task.ends()) return;
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) finish(task.channel(c), first[c], second[c]);
        return;
    }
    if (task.ends()) store_sums(sums, task, channels, first, second);
    int channel;
    Sum one, other;
    if (add_chunks(sums, counters, channels, task.abreast * COLUMNS, channel, one, other)) {
        finish(channel, one, other);
    }
}

// The last step of the statistics.
// ``bias`` is not part of the data, but of its mean in ``moving_mean``; it may be null.
#define STATISTICS                                                                            \
    const Scalar *data, const Scalar *bias, const Wide *gamma, Wide *moving_mean,             \
        Wide *moving_var, Wide *mean, Wide *inverse, Wide *scale, Index count, int channels,  \
        int inner, Wide eps, Wide momentum, Wide share, int fixed

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
    const Wide whole = bias ? found + widen(bias[channel]) : found;
    moving_mean[channel] = moving_mean[channel] * momentum + whole * share;
    moving_var[channel] = moving_var[channel] * momentum + variance * share;
    set_scale(channel, variance, gamma, inverse, scale, eps, fixed);
}

// Sums of elements and their squares in a group of packs, relative to its first element.
struct Moments {
    Wide base[COLUMNS], sum[COLUMNS], squares[COLUMNS];
    int packs;

    __device__ Moments(const Scalar *data, Index at) : packs(0) {
        Wide value[VECTOR];
        load_pack(data, at, value);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            base[c] = value[c];
            sum[c] = squares[c] = 0;
        }
    }
    template <bool WHOLE>
    __device__ void add(const Scalar *data, const Walk &walk, const Task &task, Index number) {
        Wide value[LOADS][VECTOR];
        load_packs<WHOLE, LOADS>(data, walk, task, number, base, value);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
#pragma unroll
            for (int j = 0; j < VECTOR; ++j) {
                Wide off = value[k][j] - base[COLUMN(j)];
                sum[COLUMN(j)] += off;
                squares[COLUMN(j)] += off * off;
            }
            packs += WHOLE || number + k * task.lanes < task.end;
        }
    }
    // Adds the group to sums that are relative to ``shift``.
    __device__ void add_to(Sum *first, Sum *second, const Wide *shift) const {
        Sum count = packs * (LAST ? 1 : VECTOR);
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            Sum step = (Sum)base[c] - (Sum)shift[c];
            first[c] += count * step + (Sum)sum[c];
            second[c] += (Sum)squares[c] + 2 * step * (Sum)sum[c] + count * step * step;
        }
    }
};

// Sums of elements and their squares, relative to the channel's first element. Within a group they
// are relative to the group's first, so that neither a large mean nor an outlier costs precision.
extern "C" __global__ void statistics(
    Sum *sums, unsigned *counters, Index chunk, int abreast, const Scalar *data,
    const Scalar *bias, const Wide *gamma, Wide *moving_mean, Wide *moving_var, Wide *mean,
    Wide *inverse, Wide *scale, Index count, int channels, int inner, Wide eps, Wide momentum,
    Wide share, int fixed) {
    Task task(chunk, count, channels, abreast);
    Sum first[COLUMNS] = {}, second[COLUMNS] = {};
    if (task.works()) {
        Wide shift[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            shift[c] = widen(data[(Index)task.channel(c) * inner]);
        }
        Walk walk(task.number, task.column, task.columns, inner / VECTOR, task.lanes);
        for (Index number = task.number; number < task.end;) {
            Moments group(data, walk.at);
            for (int k = 0; k < GROUP && number < task.end; k += LOADS) {
                if (number + (LOADS - 1) * task.lanes < task.end) {
                    group.add<true>(data, walk, task, number);
                } else {
                    group.add<false>(data, walk, task, number);
                }
#pragma unroll
                for (int i = 0; i < LOADS; ++i) walk.advance();
                number += LOADS * task.lanes;
            }
            group.add_to(first, second, shift);
        }
    }
    add_lanes<COLUMNS>(task.lane, task.lanes, abreast, first, second);
    for_each_sum(sums, counters, task, channels, first, second, [&](int channel, Sum sum, Sum square) {
        finish_statistics(channel, sum, square, data, bias, gamma, moving_mean, moving_var, mean,
                          inverse, scale, count, channels, inner, eps, momentum, share, fixed);
    });
}

// Scale and inverse deviation from moving statistics.
extern "C" __global__ void moving_statistics(
    const Wide *gamma, const Wide *moving_mean, const Wide *moving_var, Wide *mean, Wide *inverse,
    Wide *scale, Index total, Wide eps, int fixed) {
    Index channel = thread_number();
    if (channel >= total) return;
    mean[channel] = moving_mean[channel];
    set_scale((int)channel, moving_var[channel], gamma, inverse, scale, eps, fixed);
}

// Iterates over all packs, ``stride`` at a time, and tracks the channel: if channels are innermost
// a thread keeps its channels, as the stride is a multiple of the number of columns.
struct Place {
    int channel, inside;

    __device__ Place(Index at, int channels, int run) {
#if LAST
        channel = (int)(at % (Index)(channels / VECTOR)) * VECTOR;
#else
        Index row = at / (Index)run;
        inside = (int)(at - row * run);
        channel = (int)(row % (Index)channels);
#endif
    }
    __device__ void advance(int channels, int run, int step_channel, int step_inside) {
#if !LAST
        channel += step_channel;
        inside += step_inside;
        if (inside >= run) {
            inside -= run;
            ++channel;
        }
        if (channel >= channels) channel -= channels;
#endif
    }
};

__device__ inline void load_columns(const Wide *source, int channel, Wide *value) {
#pragma unroll
    for (int c = 0; c < COLUMNS; ++c) value[c] = source[channel + c];
}

// Numbers of the channels of a pack.
struct Normalization {
    Wide centre[COLUMNS], factor[COLUMNS], bias[COLUMNS];

    __device__ void load(const Wide *mean, const Wide *scale, const Wide *beta, int channel) {
        load_columns(mean, channel, centre);
        load_columns(scale, channel, factor);
        load_columns(beta, channel, bias);
    }
};

// An elementwise kernel: a thread takes packs that are ``stride`` apart, LOADS of them at once.
template <class Pack>
__device__ inline void for_each_pack(
    Pack &pack, Index total, Index stride, int channels, int run, int step_channel,
    int step_inside) {
    Index start = thread_number();
    if (start >= stride || start >= total) return;
    Place place(start, channels, run);
    if (LAST) pack.load_channels(place.channel);
    for (; start + (LOADS - 1) * stride < total; start += LOADS * stride) {
#pragma unroll
        for (int k = 0; k < LOADS; ++k) pack.load(k, start + k * stride);
#pragma unroll
        for (int k = 0; k < LOADS; ++k) {
            if (!LAST) pack.load_channels(place.channel);
            pack.store(k, start + k * stride);
            place.advance(channels, run, step_channel, step_inside);
        }
    }
#pragma unroll
    for (int k = 0; k < LOADS - 1; ++k) {
        if (start + k * stride < total) pack.load(k, start + k * stride);
    }
#pragma unroll
    for (int k = 0; k < LOADS - 1; ++k) {
        if (start + k * stride >= total) return;
        if (!LAST) pack.load_channels(place.channel);
        pack.store(k, start + k * stride);
        place.advance(channels, run, step_channel, step_inside);
    }
}

struct Normalized {
    const Scalar *data;
    const Wide *mean, *scale, *beta;
    Scalar *out;
    Normalization of;
    Wide value[LOADS][VECTOR];

    __device__ void load_channels(int channel) { of.load(mean, scale, beta, channel); }
    __device__ void load(int k, Index at) { load_pack(data, at, value[k]); }
    __device__ void store(int k, Index at) {
#pragma unroll
        for (int j = 0; j < VECTOR; ++j) {
            const int c = COLUMN(j);
            value[k][j] = (value[k][j] - of.centre[c]) * of.factor[c] + of.bias[c];
        }
        store_pack(out, at, value[k]);
    }
};

extern "C" __global__ void normalize(
    const Scalar *data, const Wide *mean, const Wide *scale, const Wide *beta, Scalar *out,
    Index total, Index stride, int channels, int inner, int step_channel, int step_inside) {
    Normalized pack;
    pack.data = data;
    pack.mean = mean;
    pack.scale = scale;
    pack.beta = beta;
    pack.out = out;
    for_each_pack(pack, total, stride, channels, inner / VECTOR, step_channel, step_inside);
}

// The gradient of the normalization's output: zero where the relu or clip after it is flat. ``low``
// and ``high`` bound the output before it is rounded.
__device__ inline Wide masked(
    Wide grad, Wide centred, const Normalization &of, int column, Wide low, Wide high) {
#if BOUNDS == 0
    return grad;
#else
    Wide normalized = scaled(centred, of.factor[column], of.bias[column]);
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

// The gradient of the normalization's output.
struct Gradient {
    static constexpr bool IS_BOUNDED = BOUNDS > 0;
    const Scalar *grad;

    template <bool WHOLE>
    __device__ void load(const Walk &walk, const Task &task, Index number, Wide (*head)[VECTOR]) const {
        load_packs<WHOLE, PAIRS>(grad, walk, task, number, nullptr, head);
    }
};

// The same behind a sum and a relu, whose output is ``relu``: the sum of two gradients where that is
// positive. It is computed as single operators do, and stored; ``grad`` may be ``one``.
struct ResidualGradient {
    static constexpr bool IS_BOUNDED = false;
    const Scalar *one, *other, *relu;
    Scalar *grad;

    template <bool WHOLE>
    __device__ void load(Walk walk, const Task &task, Index number, Wide (*head)[VECTOR]) const {
        Wide second[PAIRS][VECTOR], output[PAIRS][VECTOR];
        load_packs<WHOLE, PAIRS>(one, walk, task, number, nullptr, head);
        load_packs<WHOLE, PAIRS>(other, walk, task, number, nullptr, second);
        load_packs<WHOLE, PAIRS>(relu, walk, task, number, nullptr, output);
#pragma unroll
        for (int k = 0; k < PAIRS; ++k) {
#pragma unroll
            for (int j = 0; j < VECTOR; ++j) {
                const Wide sum = widen(rounded(head[k][j] + second[k][j]));
                head[k][j] = sum * (Wide)(output[k][j] > 0);
            }
            if (WHOLE || number + k * task.lanes < task.end) store_pack(grad, walk.at, head[k]);
            walk.advance();
        }
    }
};

// Sums of the gradient, and of its products with centred elements, in a group of packs.
struct Projection {
    Wide sum[COLUMNS], product[COLUMNS];

    __device__ Projection() {
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) sum[c] = product[c] = 0;
    }
    template <bool WHOLE, class Grad>
    __device__ void add(
        const Grad &grad, const Scalar *data, const Walk &walk, const Task &task, Index number,
        const Normalization &of, Wide low, Wide high) {
        Wide head[PAIRS][VECTOR], value[PAIRS][VECTOR];
        grad.template load<WHOLE>(walk, task, number, head);
        load_packs<WHOLE, PAIRS>(data, walk, task, number, of.centre, value);
#pragma unroll
        for (int k = 0; k < PAIRS; ++k) {
#pragma unroll
            for (int j = 0; j < VECTOR; ++j) {
                const int c = COLUMN(j);
                Wide z = value[k][j] - of.centre[c];
                Wide a = head[k][j];
                if (Grad::IS_BOUNDED) a = masked(a, z, of, c, low, high);
                sum[c] += a;
                product[c] += a * z;
            }
        }
    }
};

// The sums of a block, in its lane 0.
template <class Grad>
__device__ inline void sum_gradient(
    const Task &task, const Grad &grad, const Scalar *data, const Normalization &of, int run,
    Wide low, Wide high, Sum *first, Sum *second) {
    Walk walk(task.number, task.column, task.columns, run, task.lanes);
    for (Index number = task.number; number < task.end;) {
        Projection group;
        for (int k = 0; k < GROUP && number < task.end; k += PAIRS) {
            if (number + (PAIRS - 1) * task.lanes < task.end) {
                group.add<true>(grad, data, walk, task, number, of, low, high);
            } else {
                group.add<false>(grad, data, walk, task, number, of, low, high);
            }
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) walk.advance();
            number += PAIRS * task.lanes;
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            first[c] += (Sum)group.sum[c];
            second[c] += (Sum)group.product[c];
        }
    }
}

extern "C" __global__ void gradient_sums(
    Sum *sums, unsigned *counters, Index chunk, int abreast, const Scalar *grad, const Scalar *data,
    const Wide *beta, Wide low, Wide high, const Wide *mean, const Wide *inverse, const Wide *scale,
    Wide *d_gamma, Wide *d_beta, Wide *slope, Wide *offset, Wide *used_scale, Index count,
    int channels, int inner, int is_gamma, int fixed, int frozen) {
    Task task(chunk, count, channels, abreast);
    Sum first[COLUMNS] = {}, second[COLUMNS] = {};
    if (task.works()) {
        Normalization of;
        of.load(mean, scale, beta, task.channel(0));
        sum_gradient(task, Gradient{grad}, data, of, inner / VECTOR, low, high, first, second);
    }
    add_lanes<COLUMNS>(task.lane, task.lanes, abreast, first, second);
    for_each_sum(sums, counters, task, channels, first, second, [&](int channel, Sum sum, Sum product) {
        finish_sums(channel, sum, product, mean, inverse, scale, d_gamma, d_beta, slope, offset,
                    used_scale, count, channels, inner, is_gamma, fixed, frozen);
    });
}

extern "C" __global__ void residual_sums(
    Sum *sums, unsigned *counters, Index chunk, int abreast, const Scalar *one, const Scalar *other,
    const Scalar *relu, Scalar *grad, const Scalar *data, const Wide *mean, const Wide *inverse,
    const Wide *scale, Wide *d_gamma, Wide *d_beta, Wide *slope, Wide *offset, Wide *used_scale,
    Index count, int channels, int inner, int is_gamma, int fixed, int frozen) {
    Task task(chunk, count, channels, abreast);
    Sum first[COLUMNS] = {}, second[COLUMNS] = {};
    if (task.works()) {
        Normalization of;
        load_columns(mean, task.channel(0), of.centre);
        const ResidualGradient found{one, other, relu, grad};
        sum_gradient(task, found, data, of, inner / VECTOR, (Wide)0, (Wide)0, first, second);
    }
    add_lanes<COLUMNS>(task.lane, task.lanes, abreast, first, second);
    for_each_sum(sums, counters, task, channels, first, second, [&](int channel, Sum sum, Sum product) {
        finish_sums(channel, sum, product, mean, inverse, scale, d_gamma, d_beta, slope, offset,
                    used_scale, count, channels, inner, is_gamma, fixed, frozen);
    });
}

struct DataGradient {
    const Scalar *grad, *data;
    const Wide *mean, *scale, *beta, *slope, *offset;
    Scalar *out;
    Wide low, high;
    Normalization of;
    Wide tilt[COLUMNS], rest[COLUMNS], head[LOADS][VECTOR], value[LOADS][VECTOR];

    __device__ void load_channels(int channel) {
        of.load(mean, scale, beta, channel);
        load_columns(slope, channel, tilt);
        load_columns(offset, channel, rest);
    }
    __device__ void load(int k, Index at) {
        load_pack(grad, at, head[k]);
        load_pack(data, at, value[k]);
    }
    __device__ void store(int k, Index at) {
#pragma unroll
        for (int j = 0; j < VECTOR; ++j) {
            const int c = COLUMN(j);
            Wide z = value[k][j] - of.centre[c];
            Wide a = masked(head[k][j], z, of, c, low, high);
            value[k][j] = a * of.factor[c] + (z * tilt[c] + rest[c]);
        }
        store_pack(out, at, value[k]);
    }
};

extern "C" __global__ void data_gradient(
    const Scalar *grad, const Scalar *data, const Wide *mean, const Wide *scale, const Wide *beta,
    const Wide *slope, const Wide *offset, Scalar *out, Index total, Index stride, int channels,
    int inner, int step_channel, int step_inside, Wide low, Wide high) {
    DataGradient pack;
    pack.grad = grad;
    pack.data = data;
    pack.mean = mean;
    pack.scale = scale;
    pack.beta = beta;
    pack.slope = slope;
    pack.offset = offset;
    pack.out = out;
    pack.low = low;
    pack.high = high;
    for_each_pack(pack, total, stride, channels, inner / VECTOR, step_channel, step_inside);
}
