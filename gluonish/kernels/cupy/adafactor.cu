// Steps of Adafactor for several weights, each a batch of matrices of m rows and n columns.
//
// A block of threads has a chunk: whole matrices, or some rows of one matrix, whose sums of columns
// are then added by ``join``. ``means`` adds the squares of gradients to means of rows and columns,
// ``lengths`` sums the squares of weights and steps, ``sizes`` computes the factor of each weight's
// step, and ``update`` the weights. A vector is a batch of matrices of one element, without means of
// rows. Each sum has a fixed order without atomics, in float64.

#ifndef MOST
#define MOST 1
#endif

struct Table {
    unsigned long long out[MOST], weight[MOST], grad[MOST], row[MOST], column[MOST];
    unsigned long long sums[MOST], middles[MOST];  // where those of a weight begin
    double rates[MOST];
    long long rows[MOST];  // of all matrices
    unsigned m[MOST], n[MOST], chunk[MOST], ends[MOST];  // rows of a chunk, and its end block
    float shares[MOST], kept[MOST];
    double epsilon2, threshold;
    float rescale, clip, epsilon, least;
    unsigned count, vectors;  // weights from ``vectors`` on are vectors
};

#include "lanes.cuh"
#include "tables.cuh"

__device__ inline float minimum(float x, float y) { return x != x || x <= y ? x : y; }
__device__ inline float maximum(float x, float y) { return x != x || x >= y ? x : y; }

// The rows of a block's chunk, and what it needs of its weight.
struct Chunk {
    unsigned owner, number, m, n, rows;
    Offset first;  // of the rows
    bool whole, vector;
};

__device__ inline Chunk chunk_of(const Table &table) {
    Chunk found;
    const unsigned owner = owner_of(table, blockIdx.x);
    const unsigned m = table.m[owner], most = table.chunk[owner];
    found.owner = owner;
    found.number = blockIdx.x - first_block(table, owner);
    found.m = m;
    found.n = table.n[owner];
    found.whole = most >= m;
    found.vector = owner >= table.vectors;
    const unsigned chunks = found.whole ? 1 : (m + most - 1) / most;  // of a matrix
    const unsigned part = found.number % chunks * most;
    found.first = found.whole ? (Offset)found.number * most : (Offset)(found.number / chunks) * m + part;
    const Offset rest = found.whole ? table.rows[owner] - found.first : (Offset)(m - part);
    found.rows = rest < most ? (unsigned)rest : most;
    return found;
}

__device__ inline float gradient(const Table &table, const Scalar *grad, Offset i) {
    return minimum(maximum(widen(grad[i]) * table.rescale, -table.clip), table.clip);
}

__device__ inline void blend(float &state, Sum total, unsigned count, float share) {
    state = state + ((float)(total / (double)count) - state) * share;
}

__device__ inline float *floats(unsigned long long address) { return (float *)address; }

// Means of the rows of a chunk, then of its columns if it has whole matrices; else their sums.
extern "C" __global__ void means(const __grid_constant__ Table table, double *sums, float *middles) {
    __shared__ Sum partial[2 * THREADS];
    const Chunk chunk = chunk_of(table);
    const unsigned owner = chunk.owner, n = chunk.n;
    const Scalar *grad = (const Scalar *)table.grad[owner] + chunk.first * n;
    const float share = table.shares[owner];
    if (!chunk.vector) {
        float *rows = floats(table.row[owner]) + chunk.first;
        const unsigned lanes = n < 32 ? 1 : 32, lane = threadIdx.x % lanes;
        for (unsigned base = 0; base < chunk.rows; base += THREADS / lanes) {
            const unsigned row = base + threadIdx.x / lanes;
            Sum sum = 0, none = 0;
            if (row < chunk.rows) {
                for (unsigned j = lane; j < n; j += lanes) {
                    const float g = gradient(table, grad, (Offset)row * n + j);
                    sum += (double)(g * g);
                }
            }
            add_lanes(partial, lane, lanes, 1, sum, none);
            if (!lane && row < chunk.rows) blend(rows[row], sum, n, share);
            __syncthreads();
        }
    }
    const unsigned step = chunk.whole ? chunk.m : chunk.rows;
    const Offset matrix = chunk.first / chunk.m;
    float *columns = floats(table.column[owner]) + matrix * n;
    double *parts = sums + table.sums[owner] + (Offset)chunk.number * n;
    const unsigned total = chunk.rows / step * n;
    for (unsigned i = threadIdx.x; i < total; i += THREADS) {
        const unsigned place = i / n;
        const Scalar *column = grad + (Offset)place * step * n + i % n;
        Sum sum = 0;
        for (unsigned row = 0; row < step; ++row) {
            const float g = gradient(table, column, (Offset)row * n);
            sum += (double)(g * g);
        }
        if (chunk.whole) {
            blend(columns[i], sum, chunk.m, share);
        } else {
            parts[i] = sum;
        }
    }
    if (chunk.vector || !chunk.whole) return;
    const float *rows = floats(table.row[owner]) + chunk.first;
    for (unsigned i = threadIdx.x; i < chunk.rows / step; i += THREADS) {
        Sum sum = 0;
        for (unsigned row = 0; row < step; ++row) sum += (double)rows[i * step + row];
        middles[table.middles[owner] + matrix + i] =
            maximum((float)(sum / (double)chunk.m), table.epsilon);
    }
}

// The means of a matrix in several chunks: the first of these has the work.
extern "C" __global__ void join(const __grid_constant__ Table table, const double *sums, float *middles) {
    __shared__ Sum partial[2 * THREADS];
    const Chunk chunk = chunk_of(table);
    const unsigned owner = chunk.owner, m = chunk.m, n = chunk.n;
    if (chunk.whole || chunk.first % m) return;
    const unsigned chunks = (m + table.chunk[owner] - 1) / table.chunk[owner];
    const Offset matrix = chunk.first / m;
    float *columns = floats(table.column[owner]) + matrix * n;
    const double *parts = sums + table.sums[owner] + (Offset)chunk.number * n;
    for (unsigned j = threadIdx.x; j < n; j += THREADS) {
        Sum sum = 0;
        for (unsigned i = 0; i < chunks; ++i) sum += parts[(Offset)i * n + j];
        blend(columns[j], sum, m, table.shares[owner]);
    }
    const float *rows = floats(table.row[owner]) + chunk.first;
    Sum sum = 0, none = 0;
    for (unsigned i = threadIdx.x; i < m; i += THREADS) sum += (double)rows[i];
    add_lanes(partial, threadIdx.x, THREADS, 1, sum, none);
    if (threadIdx.x) return;
    middles[table.middles[owner] + matrix] = maximum((float)(sum / (double)m), table.epsilon);
}

// The step of element ``i`` of a chunk before it is scaled.
__device__ inline float step_of(
    const Table &table, const Chunk &chunk, const Scalar *grad, const float *middles, unsigned i) {
    const unsigned owner = chunk.owner, row = i / chunk.n;
    const Offset matrix = (chunk.first + row) / chunk.m;
    float var = floats(table.column[owner])[matrix * chunk.n + (i - row * chunk.n)];
    if (!chunk.vector) {
        const float middle = middles[table.middles[owner] + matrix];
        var = floats(table.row[owner])[chunk.first + row] * var / middle;
    }
    return gradient(table, grad, i) / sqrtf(maximum(var, table.least));
}

// Sums of squares of a chunk's weights and steps.
extern "C" __global__ void lengths(
    const __grid_constant__ Table table, const float *middles, double *squares) {
    __shared__ Sum partial[2 * THREADS];
    const Chunk chunk = chunk_of(table);
    const Offset from = chunk.first * chunk.n;
    const float *weight = floats(table.weight[chunk.owner]) + from;
    const Scalar *grad = (const Scalar *)table.grad[chunk.owner] + from;
    Sum of_weight = 0, of_step = 0;
    for (unsigned i = threadIdx.x; i < chunk.rows * chunk.n; i += THREADS) {
        const float w = weight[i], g = step_of(table, chunk, grad, middles, i);
        of_weight += (double)w * (double)w;
        of_step += (double)g * (double)g;
    }
    add_lanes(partial, threadIdx.x, THREADS, 1, of_weight, of_step);
    if (threadIdx.x) return;
    squares[blockIdx.x] = of_weight;
    squares[gridDim.x + blockIdx.x] = of_step;
}

// The factors of the weights' steps; a block for each weight.
extern "C" __global__ void sizes(
    const __grid_constant__ Table table, const double *squares, float *factors, unsigned blocks) {
    __shared__ Sum partial[2 * THREADS];
    const unsigned owner = blockIdx.x;
    Sum of_weight = 0, of_step = 0;
    for (unsigned i = first_block(table, owner) + threadIdx.x; i < table.ends[owner]; i += THREADS) {
        of_weight += squares[i];  // partial sums
        of_step += squares[blocks + i];
    }
    add_lanes(partial, threadIdx.x, THREADS, 1, of_weight, of_step);
    if (threadIdx.x) return;
    const double root = sqrt((double)table.rows[owner] * (double)table.n[owner]);
    const double weight = sqrt(of_weight) / root;
    double step = sqrt(of_step) / root / table.threshold;
    step = step != step || step >= 1 ? step : 1;
    const double least = table.epsilon2;
    const double size = weight != weight || weight >= least ? weight : least;
    factors[owner] = (float)(size * table.rates[owner] / step);
}

extern "C" __global__ void update(
    const __grid_constant__ Table table, const float *middles, const float *factors) {
    const Chunk chunk = chunk_of(table);
    const unsigned owner = chunk.owner;
    const Offset from = chunk.first * chunk.n;
    float *weight = floats(table.weight[owner]) + from;
    const Scalar *grad = (const Scalar *)table.grad[owner] + from;
    Scalar *out = (Scalar *)table.out[owner] + from;
    const float kept = table.kept[owner], factor = factors[owner];
    for (unsigned i = threadIdx.x; i < chunk.rows * chunk.n; i += THREADS) {
        const float w = weight[i] * kept - step_of(table, chunk, grad, middles, i) * factor;
#if KIND
        weight[i] = w;
#endif
        out[i] = rounded(w);
    }
}
