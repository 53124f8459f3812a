// Loads and stores of several adjacent elements at once, 16 bytes per access.
//
// ``load_vector<COUNT>(source, values)`` loads COUNT elements and converts them to the type of
// ``values``; ``store_vector<COUNT>(target, values)`` converts and stores them. Results have the
// bits of conversions one by one. COUNT is a power of 2. Addresses are multiples of 16 bytes, or of
// COUNT elements if these have fewer bytes. Include cuda_fp16.h and cuda_bf16.h before this file.

template <int BYTES> struct Word;
template <> struct Word<16> { typedef uint4 Type; };
template <> struct Word<8> { typedef uint2 Type; };
template <> struct Word<4> { typedef unsigned Type; };
template <> struct Word<2> { typedef unsigned short Type; };
template <> struct Word<1> { typedef unsigned char Type; };

// COUNT elements in one word of at most 16 bytes.
template <class T, int COUNT> union Chunk {
    typename Word<COUNT * (int)sizeof(T)>::Type word;
    T item[COUNT];
};

// The number of elements per access, if ``count`` elements are loaded or stored.
template <class T> __device__ constexpr int per_access(int count) {
    return count * (int)sizeof(T) > 16 ? 16 / (int)sizeof(T) : count;
}

template <class W, class T> __device__ inline W converted(T x) { return W(x); }
template <int COUNT, class T, class W>
__device__ inline void narrow(const W *values, Chunk<T, COUNT> &chunk) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) chunk.item[i] = T(values[i]);
}

#ifdef __CUDA_FP16_H__
template <> __device__ inline float converted<float, __half>(__half x) { return __half2float(x); }
template <int COUNT>
__device__ inline void narrow(const float *values, Chunk<__half, COUNT> &chunk) {
    if (COUNT == 1) chunk.item[0] = __float2half_rn(values[0]);
#pragma unroll
    for (int i = 0; i + 1 < COUNT; i += 2) {
        const __half2 pair = __floats2half2_rn(values[i], values[i + 1]);
        chunk.item[i] = pair.x;
        chunk.item[i + 1] = pair.y;
    }
}
#endif

#ifdef __CUDA_BF16_H__
template <> __device__ inline float converted<float, __nv_bfloat16>(__nv_bfloat16 x) {
    return __bfloat162float(x);
}
template <int COUNT>
__device__ inline void narrow(const float *values, Chunk<__nv_bfloat16, COUNT> &chunk) {
    if (COUNT == 1) chunk.item[0] = __float2bfloat16_rn(values[0]);
#pragma unroll
    for (int i = 0; i + 1 < COUNT; i += 2) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(values[i], values[i + 1]);
        chunk.item[i] = pair.x;
        chunk.item[i + 1] = pair.y;
    }
}
#endif

template <int COUNT, class T, class W>
__device__ inline void load_vector(const T *source, W *values) {
    constexpr int STEP = per_access<T>(COUNT);
#pragma unroll
    for (int k = 0; k < COUNT / STEP; ++k) {
        Chunk<T, STEP> chunk;
        chunk.word = ((const typename Word<STEP * (int)sizeof(T)>::Type *)source)[k];
#pragma unroll
        for (int i = 0; i < STEP; ++i) values[k * STEP + i] = converted<W, T>(chunk.item[i]);
    }
}

template <int COUNT, class T, class W>
__device__ inline void store_vector(T *target, const W *values) {
    constexpr int STEP = per_access<T>(COUNT);
#pragma unroll
    for (int k = 0; k < COUNT / STEP; ++k) {
        Chunk<T, STEP> chunk;
        narrow(values + k * STEP, chunk);
        ((typename Word<STEP * (int)sizeof(T)>::Type *)target)[k] = chunk.word;
    }
}
