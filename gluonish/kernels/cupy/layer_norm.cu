// LayerNorm and the gradient of its data, along the last axis; ``share`` is 1 / size.
#include "layer_norm.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) layer_norm(
    const Scalar *data, const Parameter *gamma, const Parameter *beta, Scalar *out,
    Parameter *out_mean, Parameter *out_std, Index total, Index size, Wide eps, Wide share) {
    const Dropout none(0, 0, 0, 0, 0);
    normalize(
        data, 0, gamma, beta, out, 0, out_mean, out_std, none, total, size, eps, share);
}

extern "C" __global__ void __launch_bounds__(THREADS) layer_norm_data(
    const Scalar *grad, const Scalar *data, const Parameter *gamma, const Parameter *mean,
    const Parameter *std, Scalar *out, Index total, Index size, Wide share) {
    const Dropout none(0, 0, 0, 0, 0);
    data_gradient(grad, 0, data, 0, gamma, mean, std, out, 0, none, total, size, share);
}
