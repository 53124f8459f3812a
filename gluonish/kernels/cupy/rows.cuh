// Rows of elements, each computed by LANES threads of a block of THREADS; both are powers of 2.
//
// Sums and maxima over the lanes of a row have an order that depends on LANES only, and every lane
// gets them. Include this file once, after scalar.cuh.
//
// A row that fits is held in registers: each lane has HELD times ACCESS adjacent elements of it, which
// are all inside the row if FULL, and are accessed one by one if not ALIGNED. With HELD 0 a row is
// longer, and is read once for each pass.
#include "vectors.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef LANES
#define LANES 32
#endif
#ifndef HELD
#define HELD 0
#endif
#ifndef FULL
#define FULL 0
#endif
#ifndef ALIGNED
#define ALIGNED 1
#endif
#define ROWS (THREADS / LANES)
// Exponentials of float64 need so many registers that the compiler's own bound makes it spill some.
#if KIND == 1
#define BOUNDS THREADS, 1
#else
#define BOUNDS THREADS
#endif
#define NARROW (KIND == 2 || KIND == 14)
#define VECTOR (16 / (int)sizeof(Scalar))
#ifndef ACCESS
#define ACCESS VECTOR
#endif

#if KIND == 1
#define LOWEST -1.7976931348623157e308
#else
#define LOWEST -3.402823466e38f
#endif
#define INFINITE ((Wide)__uint_as_float(0x7f800000u))

// The exponential. To be rounded to 16 bits, one instruction of exp2f is exact enough; the error of
// a sum of exponentials of numbers below 0, of which one is 0, is that of float32.
__device__ inline Wide exponential(Wide x) {
#if NARROW
    return exp2f(x * 1.4426950408889634f);
#else
    return exp(x);
#endif
}

template <class T> __device__ inline Wide read(const T &x) {
    Wide value;
    load_vector<1>(&x, &value);
    return value;
}
template <class T> __device__ inline void write(T *target, Wide x) { store_vector<1>(target, &x); }

// The row of this thread; threads of a row beyond the last compute the first again, and store nothing.
struct Row {
    Index number;
    int lane;
    bool inside;

    __device__ Row(Index total) {
        number = (Index)blockIdx.x * ROWS + threadIdx.x / LANES;
        lane = threadIdx.x % LANES;
        inside = number < total;
        if (!inside) number = 0;
    }
};

struct Add {
    __device__ Wide operator()(Wide x, Wide y) const { return x + y; }
};
struct Most {  // may lose NaN
    __device__ Wide operator()(Wide x, Wide y) const { return fmax(x, y); }
};

template <class Operation> __device__ inline Wide over_warp(Wide x, int lanes, Operation operation) {
#pragma unroll
    for (int half = lanes / 2; half; half /= 2) {
        x = operation(x, __shfl_xor_sync(0xffffffffu, x, half));
    }
    return x;
}

// Reduces a number over the lanes of each row. All threads of the block must call it.
template <class Operation> __device__ inline Wide over_lanes(Wide x, Operation operation) {
#if LANES <= 32
    return over_warp(x, LANES, operation);
#else
    __shared__ Wide partial[THREADS / 32];
    x = over_warp(x, 32, operation);
    __syncthreads();  // others may still read the previous numbers
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    x = partial[threadIdx.x / LANES * (LANES / 32) + threadIdx.x % (LANES / 32)];
    return over_warp(x, LANES / 32, operation);
#endif
}

// A sum, and the sum of the roundings of its additions.
struct Total {
    Wide sum, rest;

    __device__ Total() : sum(0), rest(0) {}
    __device__ void add(Wide x) {
        const Wide next = sum + x, part = next - sum;
        rest += (sum - (next - part)) + (x - part);
        sum = next;
    }
    __device__ Wide value() const { return rest == rest ? sum + rest : sum; }
};

// The maximum, and the sum of exponentials after subtracting it, in one pass.
struct Exponentials {
    Wide top;
    Total total;

    __device__ Exponentials() : top(LOWEST) {}
    __device__ __forceinline__ void add(const Wide *values, int count) {
        Wide most = values[0];
#pragma unroll
        for (int k = 1; k < count; ++k) most = fmax(most, values[k]);
        if (most > top) {
            const Wide share = exponential(top - most);
            total.sum *= share;
            total.rest *= share;
            top = most;
        }
        Wide part = 0;
#pragma unroll
        for (int k = 0; k < count; ++k) part += exponential(values[k] - top);
        total.add(part);
    }
    // Returns the sum of the row; ``top`` is then its maximum. A row of -inf has the sum NaN.
    __device__ Wide over_row() {
        return joined(over_lanes(top, Most()), [](Wide x) { return over_lanes(x, Add()); });
    }
    __device__ Wide of_thread() {
        return joined(top, [](Wide x) { return x; });
    }

private:
    template <class Sum> __device__ Wide joined(Wide most, Sum over) {
        Wide sum = over(total.value() * exponential(top - most));
        top = most;
        if (sum == 0) {
            top = -INFINITE;
            sum = top - top;
        } else if (sum != sum && top < INFINITE) {
            top = sum;
        }
        return sum;
    }
};

// Loads 1 or VECTOR elements, and stores them; ``count`` is a constant once this is inlined.
__device__ __forceinline__ void load(const Scalar *x, int count, Wide *values) {
    if (count == 1) {
        load_vector<1>(x, values);
    } else {
        load_vector<VECTOR>(x, values);
    }
}
__device__ __forceinline__ void store(Scalar *x, int count, const Wide *values) {
    if (count == 1) {
        store_vector<1>(x, values);
    } else {
        store_vector<VECTOR>(x, values);
    }
}

// The number of elements from an address to the next multiple of 16 bytes.
template <class T> __device__ inline Index before_vector(const T *x) {
    return (Index)((0 - (unsigned long long)x) % 16 / sizeof(T));
}

// The head of vectors that all arrays have, or the whole row if they begin at different addresses.
__device__ inline Index common_head(const Scalar *x, const Scalar *y, const Scalar *z, Index size) {
    const Index head = before_vector(x);
    return head == before_vector(y) && head == before_vector(z) ? head : size;
}

// Calls ``body(at, count)`` for all elements of a row of any length, once per lane and access: from
// the element ``head`` on by vectors, before it and behind the last whole vector one by one.
template <class Body>
__device__ __forceinline__ void for_row(Index size, Index head, int lane, Body body) {
    if (head > size) head = size;
    for (Index at = lane; at < head; at += LANES) body(at, 1);
    const Index end = head + (size - head) / VECTOR * VECTOR;
    for (Index at = head + lane * VECTOR; at < end; at += LANES * VECTOR) body(at, VECTOR);
    for (Index at = end + lane; at < size; at += LANES) body(at, 1);
}

// Loads ACCESS elements, and stores them.
template <class T> __device__ __forceinline__ void load_access(const T *x, Wide *values) {
    if (ALIGNED) return load_vector<ACCESS>(x, values);
#pragma unroll
    for (int i = 0; i < ACCESS; ++i) load_vector<1>(x + i, values + i);
}
template <class T> __device__ __forceinline__ void store_access(T *x, const Wide *values) {
    if (ALIGNED) return store_vector<ACCESS>(x, values);
#pragma unroll
    for (int i = 0; i < ACCESS; ++i) store_vector<1>(x + i, values + i);
}

#if HELD
#define HELD_ELEMENTS (HELD * ACCESS)

// Where the elements from ``k`` * ACCESS on are that a lane holds.
__device__ __forceinline__ Index held_at(int k, int lane) { return (k * LANES + lane) * ACCESS; }
__device__ __forceinline__ bool is_held(int k, int lane, Index size) {
    return FULL || held_at(k, lane) < size;
}

// Loads what a lane holds; ``fill`` stands for elements beyond the row.
template <class T>
__device__ __forceinline__ void load_held(
    const T *x, Index size, int lane, Wide fill, Wide (&values)[HELD_ELEMENTS]) {
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        if (is_held(k, lane, size)) {
            load_access(x + held_at(k, lane), values + k * ACCESS);
        } else {
#pragma unroll
            for (int i = 0; i < ACCESS; ++i) values[k * ACCESS + i] = fill;
        }
    }
}

__device__ __forceinline__ void store_held(
    Scalar *x, Index size, int lane, const Wide (&values)[HELD_ELEMENTS]) {
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        if (is_held(k, lane, size)) store_access(x + held_at(k, lane), values + k * ACCESS);
    }
}

// Calls ``body(index)`` for the elements that a lane holds and that are inside the row.
template <class Body> __device__ __forceinline__ void for_held(Index size, int lane, Body body) {
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        if (!is_held(k, lane, size)) continue;
#pragma unroll
        for (int i = 0; i < ACCESS; ++i) body(k * ACCESS + i);
    }
}
#endif
