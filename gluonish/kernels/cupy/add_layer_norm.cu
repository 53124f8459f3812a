// LayerNorm of a sum whose first term may go through Dropout, and its gradient; ``share`` is 1 / size.
#define ADDS 1
#include "layer_norm.cuh"

// The key of ``base``, ``seed`` and ``offset``, as in philox.cu, is stored with DROPS.
extern "C" __global__ void __launch_bounds__(THREADS) add_layer_norm(
    const Scalar *data, const Scalar *residual, const Parameter *gamma, const Parameter *beta,
    Scalar *out, Scalar *out_sum, Parameter *out_mean, Parameter *out_std,
    unsigned long long *out_key, Index total, Index size, Wide eps, Wide share,
    const unsigned long long *base, unsigned long long seed, unsigned long long offset, float p,
    Wide factor) {
    const Dropout dropout(base, seed, offset, p, factor);
    if (DROPS && !blockIdx.x && !threadIdx.x) dropout.store_key(out_key);
    normalize(
        data, residual, gamma, beta, out, out_sum, out_mean, out_std, dropout, total, size, eps,
        share);
}

extern "C" __global__ void __launch_bounds__(THREADS) add_layer_norm_data(
    const Scalar *grad, const Scalar *other, const Scalar *data, const Scalar *plus,
    const Parameter *gamma, const Parameter *mean, const Parameter *std, Scalar *out,
    Scalar *dropped, const unsigned long long *key, Index total, Index size, Wide share, float p,
    Wide factor) {
    const Dropout dropout(key, 0, 0, p, factor);
    data_gradient(
        grad, other, data, plus, gamma, mean, std, out, dropped, dropout, total, size, share);
}
