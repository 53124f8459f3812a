// TWO: whether the head gradient is the sum of two arrays. Parameter: the type of gamma and beta, which
// is that of the statistics if WIDE_PARAMETERS.
#ifndef TWO
#define TWO 0
#endif
#ifndef WIDE_PARAMETERS
#define WIDE_PARAMETERS 0
#endif
#include "dropout.cuh"
#if WIDE_PARAMETERS
typedef Wide Parameter;
#else
typedef Scalar Parameter;
#endif
