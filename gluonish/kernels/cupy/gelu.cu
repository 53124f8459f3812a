// GELU: x times the normal distribution function of x, which is half the complement of the error
// function at -x / sqrt(2). Unlike 1 + erf that keeps its digits far below zero.
extern "C" __global__ void gelu(const Scalar *data, Scalar *out, Index total) {
    Index number = thread_number();
    if (number >= total) return;
    Wide x = widen(data[number]);
    out[number] = rounded(x * (Wide)0.5 * erfc(x * (Wide)-0.70710678118654752440));
}
