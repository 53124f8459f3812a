// Source and Target: the types of the elements that a kernel copies. Values: the type between them.
// FROM and TO are a cudaDataType if the copy converts; else 100 plus the bytes of an element.
#if FROM == 2 || TO == 2
#include <cuda_fp16.h>
#endif
#if FROM == 14 || TO == 14
#include <cuda_bf16.h>
#endif
#include "vectors.cuh"
#include "division.cuh"

template <int CODE> struct Element;
template <> struct Element<0> { typedef float Type; };
template <> struct Element<1> { typedef double Type; };
template <> struct Element<101> { typedef unsigned char Type; };
template <> struct Element<102> { typedef unsigned short Type; };
template <> struct Element<104> { typedef unsigned Type; };
template <> struct Element<108> { typedef unsigned long long Type; };
#ifdef __CUDA_FP16_H__
template <> struct Element<2> { typedef __half Type; };
#endif
#ifdef __CUDA_BF16_H__
template <> struct Element<14> { typedef __nv_bfloat16 Type; };
#endif

typedef Element<FROM>::Type Source;
typedef Element<TO>::Type Target;
#if FROM > 100
typedef Source Value;
#elif FROM == 1 || TO == 1
typedef double Value;
#else
typedef float Value;
#endif

// Step: the type of steps between elements; 64 bits if FAR.
#if FAR
typedef long long Step;
#else
typedef int Step;
#endif
