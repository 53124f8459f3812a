// GELU: x times the normal distribution function of x, which is half the complement of the error
// function at -x / sqrt(2). Unlike 1 + erf that keeps its digits far below zero.
extern "C" __global__ void gelu(const Scalar *data, Scalar *out, Index total) {
    Index number = thread_number();
    if (number >= total) return;
    Wide x = widen(data[number]);
    out[number] = rounded(x * (Wide)0.5 * erfc(x * (Wide)-0.70710678118654752440));
}

// Its derivative is that function plus x times the normal density.
extern "C" __global__ void gelu_backward(
    const Scalar *grad, const Scalar *data, Scalar *out, Index total
) {
    Index number = thread_number();
    if (number >= total) return;
    Wide x = widen(data[number]);
    Wide below = (Wide)0.5 * erfc(x * (Wide)-0.70710678118654752440);
    Wide density = (Wide)0.39894228040143267794 * exp(x * x * (Wide)-0.5);
    out[number] = rounded(widen(grad[number]) * (below + x * density));
}
