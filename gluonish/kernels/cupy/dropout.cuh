// The factors that Dropout draws for the elements of an array, by their numbers.
//
// Include this file after rows.cuh. Without DROPS nothing is drawn.
#ifndef DROPS
#define DROPS 0
#endif
#include "philox.cuh"

__device__ inline Wide times(Wide x, Wide y) {  // rounded before it is added
#if KIND == 1
    return __dmul_rn(x, y);
#else
    return __fmul_rn(x, y);
#endif
}

// Rounds numbers to Scalar.
template <int COUNT> __device__ __forceinline__ void round_all(Wide *values) {
#if NARROW
#pragma unroll
    for (int i = 0; i + 1 < COUNT; i += 2) {
#if KIND == 2
        round_f16(values[i], values[i + 1]);
#else
        round_bf16(values[i], values[i + 1]);
#endif
    }
    if (COUNT % 2) values[COUNT - 1] = widen(rounded(values[COUNT - 1]));
#else
    (void)values;
#endif
}

// The same for 1 or VECTOR numbers; ``count`` is a constant once this is inlined.
__device__ __forceinline__ void round_some(int count, Wide *values) {
    if (count == 1) {
        round_all<1>(values);
    } else {
        round_all<VECTOR>(values);
    }
}

// ``factor`` is what elements that stay are multiplied by, rounded to Scalar.
struct Dropout {
    unsigned long long seed, offset;
    float p;
    Wide factor;

    __device__ Dropout(
        const unsigned long long *base, unsigned long long seed, unsigned long long offset, float p,
        Wide factor)
        : seed(base ? base[0] + seed : seed), offset(base ? base[1] + offset : offset), p(p),
          factor(factor) {}

    __device__ void store_key(unsigned long long *out) const {
        out[0] = seed;
        out[1] = offset;
    }

    // Multiplies COUNT elements, of which the first has a number that is a multiple of COUNT or of 4.
    template <int COUNT> __device__ __forceinline__ void apply(Offset number, Wide *values) const {
        Block made = philox(number / 4, seed, offset);
        const int skipped = (int)(number % 4);
#pragma unroll
        for (int i = 0; i < COUNT; ++i) {
            if (i && i % 4 == 0) made = philox(number / 4 + i / 4, seed, offset);
            unsigned bits = made.word[i % 4];
            if (COUNT < 4) {  // no index that is unknown to the compiler: words stay in registers
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    if (k == skipped + i) bits = made.word[k];
                }
            }
            const float drawn = (float)(bits >> 8) * 5.9604644775390625e-8f;
            values[i] = times(values[i], drawn >= p ? factor : (Wide)0);
        }
    }
};
