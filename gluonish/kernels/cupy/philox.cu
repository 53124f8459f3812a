// Random bits and Dropout.
#include "philox.cuh"
#include "vectors.cuh"

// Usually ``base`` is null, and seed and offset are the key. In a CUDA graph ``base`` has the key of
// the replay, to which seed and offset are added.
__device__ inline Block draw(
    unsigned long long block, const unsigned long long *base, unsigned long long seed,
    unsigned long long offset) {
    return base ? philox(block, base[0] + seed, base[1] + offset) : philox(block, seed, offset);
}

extern "C" __global__ void set_key(
    unsigned long long *base, Index total, unsigned long long seed, unsigned long long offset) {
    if (thread_number() >= total) return;
    base[0] = seed;
    base[1] = offset;
}

// Store the key that `draw` would use.
extern "C" __global__ void store_key(
    unsigned long long *out, Index total, const unsigned long long *base,
    unsigned long long seed, unsigned long long offset) {
    if (thread_number() >= total) return;
    out[0] = base ? base[0] + seed : seed;
    out[1] = base ? base[1] + offset : offset;
}

// One thread for each block of four numbers, from the block ``first``.
extern "C" __global__ void random_bits(
    unsigned *out, Index total, unsigned long long first, const unsigned long long *base,
    unsigned long long seed, unsigned long long offset) {
    Index number = thread_number();
    if (number >= total) return;
    Block made = draw(first + number, base, seed, offset);
    for (int i = 0; i < 4; ++i) out[4 * (Offset)number + i] = made.word[i];
}

// The factor of an element of Dropout, from a uniform number of 24 bits in [0, 1).
__device__ inline Scalar factor(unsigned bits, float p, Wide scale) {
    float drawn = (float)(bits >> 8) * 5.9604644775390625e-8f;
    return rounded(drawn >= p ? scale : (Wide)0);
}

// Whether a thread's four elements exist, at an address that allows one access to all of them.
__device__ inline bool is_whole(Offset start, Offset size, unsigned long long addresses) {
    return start + 4 <= size && addresses % 16 == 0;
}

// One thread for four elements of the mask.
extern "C" __global__ void dropout_mask(
    Scalar *mask, Index total, Offset size, const unsigned long long *base,
    unsigned long long seed, unsigned long long offset, float p, Wide scale) {
    Index number = thread_number();
    if (number >= total) return;
    Block made = draw(number, base, seed, offset);
    Offset start = 4 * (Offset)number;
    if (is_whole(start, size, (unsigned long long)mask)) {
        Wide values[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) values[i] = widen(factor(made.word[i], p, scale));
        store_vector<4>(mask + start, values);
        return;
    }
    for (int i = 0; i < 4 && start + i < size; ++i) mask[start + i] = factor(made.word[i], p, scale);
}

// The same, with the product of data and mask.
extern "C" __global__ void dropout(
    const Scalar *data, Scalar *out, Scalar *mask, Index total, Offset size,
    const unsigned long long *base, unsigned long long seed, unsigned long long offset, float p,
    Wide scale) {
    Index number = thread_number();
    if (number >= total) return;
    Block made = draw(number, base, seed, offset);
    Offset start = 4 * (Offset)number;
    unsigned long long addresses =
        (unsigned long long)data | (unsigned long long)out | (unsigned long long)mask;
    if (is_whole(start, size, addresses)) {
        Wide values[4], scaling[4];
        load_vector<4>(data + start, values);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            scaling[i] = widen(factor(made.word[i], p, scale));
            values[i] *= scaling[i];
        }
        store_vector<4>(mask + start, scaling);
        store_vector<4>(out + start, values);
        return;
    }
    for (int i = 0; i < 4 && start + i < size; ++i) {
        Scalar scaling = factor(made.word[i], p, scale);
        mask[start + i] = scaling;
        out[start + i] = rounded(widen(data[start + i]) * widen(scaling));
    }
}
