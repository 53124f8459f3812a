// Random words and Dropout.
#include "philox.cuh"

// One thread for each block of four words, from the block ``first`` on.
extern "C" __global__ void words(
    unsigned *out, Index total, unsigned long long first, unsigned long long seed,
    unsigned long long offset) {
    Index number = thread_number();
    if (number >= total) return;
    Block made = philox(first + number, seed, offset);
    for (int i = 0; i < 4; ++i) out[4 * (Offset)number + i] = made.word[i];
}

// The factor of an element of Dropout: 24 bits of a word make a number uniform on [0, 1).
__device__ inline Scalar factor(unsigned word, float p, Wide scale) {
    float drawn = (float)(word >> 8) * 5.9604644775390625e-8f;
    return rounded(drawn >= p ? scale : (Wide)0);
}

// One thread for four elements of the mask.
extern "C" __global__ void dropout_mask(
    Scalar *mask, Index total, Offset size, unsigned long long seed, unsigned long long offset,
    float p, Wide scale) {
    Index number = thread_number();
    if (number >= total) return;
    Block made = philox(number, seed, offset);
    Offset start = 4 * (Offset)number;
    for (int i = 0; i < 4 && start + i < size; ++i) mask[start + i] = factor(made.word[i], p, scale);
}

// The same, with the product of data and mask.
extern "C" __global__ void dropout(
    const Scalar *data, Scalar *out, Scalar *mask, Index total, Offset size,
    unsigned long long seed, unsigned long long offset, float p, Wide scale) {
    Index number = thread_number();
    if (number >= total) return;
    Block made = philox(number, seed, offset);
    Offset start = 4 * (Offset)number;
    for (int i = 0; i < 4 && start + i < size; ++i) {
        Scalar kept = factor(made.word[i], p, scale);
        mask[start + i] = kept;
        out[start + i] = rounded(widen(data[start + i]) * widen(kept));
    }
}
