// Philox4x32-10 (J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011), with the
// words of gluonish/ops/philox.py: the counter's low half numbers the blocks of a draw, its high
// half is the draw's offset, and the key is the seed.

struct Block {
    unsigned word[4];
};

__device__ inline Block philox(
    unsigned long long block, unsigned long long seed, unsigned long long offset) {
    unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32);
    unsigned c2 = (unsigned)offset, c3 = (unsigned)(offset >> 32);
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        unsigned low0 = 0xD2511F53u * c0, low1 = 0xCD9E8D57u * c2;
        unsigned high0 = __umulhi(0xD2511F53u, c0), high1 = __umulhi(0xCD9E8D57u, c2);
        c0 = high1 ^ c1 ^ k0;
        c2 = high0 ^ c3 ^ k1;
        c1 = low1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    Block made = {{c0, c1, c2, c3}};
    return made;
}

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
