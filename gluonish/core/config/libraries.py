"""Kernels and their libraries."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import TEXT, boolean, integer

MXNET_WINOGRAD_CONVOLUTION = Flag(
    "MXNET_WINOGRAD_CONVOLUTION",
    boolean(),
    True,
    "Compute large float32 convolutions of 3 x 3 windows by Winograd's algorithm, on CPUs.",
)
MXNET_STORAGE_FALLBACK_LOG_VERBOSE = Flag(
    "MXNET_STORAGE_FALLBACK_LOG_VERBOSE",
    boolean(),
    True,
    "Log each operator that runs on dense copies of sparse arrays, once.",
)
MXNET_MKLDNN_ENABLED = Flag(
    "MXNET_MKLDNN_ENABLED", boolean(), True, "Use oneDNN kernels on the CPU; else NumPy's."
)
MXNET_MKLDNN_CACHE_NUM = Flag(
    "MXNET_MKLDNN_CACHE_NUM",
    integer(-1),
    4096,
    "Largest number of cached oneDNN primitives, which take 128 MB at most; -1: no limit.",
)
MXNET_LIBRARY_PATH = Flag(
    "MXNET_LIBRARY_PATH",
    TEXT,
    "",
    "Path of the oneDNN shared library to load; empty looks for the installed wheel.",
)
MXNET_USE_MKLDNN_RNN = Flag(
    "MXNET_USE_MKLDNN_RNN",
    boolean(),
    True,
    "Compute recurrent layers on the CPU by oneDNN's products and generated steps; else NumPy's.",
)
MXNET_SAFE_ACCUMULATION = Flag(
    "MXNET_SAFE_ACCUMULATION",
    boolean(),
    True,
    "Sum 16-bit floats in float32; 0: softmax and norm on the CPU in their own type, as in MXNet.",
)
MXNET_ENFORCE_DETERMINISM = Flag(
    "MXNET_ENFORCE_DETERMINISM",
    boolean(),
    False,
    "Choose kernels without measuring time, and add in a fixed order: equal runs give equal bits.",
)
MXNET_CUDA_ALLOW_TENSOR_CORE = Flag(
    "MXNET_CUDA_ALLOW_TENSOR_CORE",
    boolean(),
    True,
    "Let products and convolutions of 16-bit floats use tensor cores.",
)
MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION = Flag(
    "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION",
    boolean(),
    False,
    "Let products and convolutions of float32 use tensor cores, rounded to TensorFloat-32.",
)
MXNET_CUDNN_ENABLED = Flag(
    "MXNET_CUDNN_ENABLED",
    boolean(),
    True,
    "Compute convolutions, attention and recurrent layers on GPUs with cuDNN if it is installed.",
)
GLUONISH_CUDNN_RNN = Flag(
    "GLUONISH_CUDNN_RNN",
    boolean(),
    True,
    "Compute recurrent layers on GPUs with cuDNN if it is installed and enabled.",
)
MXNET_CUDA_LIB_CHECKING = Flag(
    "MXNET_CUDA_LIB_CHECKING",
    boolean(),
    True,
    "Warn at the first use of a GPU if its driver is older than the CUDA libraries.",
)
GLUONISH_CUBLASLT = Flag(
    "GLUONISH_CUBLASLT",
    boolean(),
    True,
    "Add biases of dense layers on GPUs, and sum their gradients, inside products by cuBLASLt.",
)
GLUONISH_PAD_CHANNELS = Flag(
    "GLUONISH_PAD_CHANNELS",
    boolean(),
    True,
    "Pad few channels of large convolutions with zeros for tensor cores, on GPUs.",
)
MXNET_CUDNN_AUTOTUNE_DEFAULT = Flag(
    "MXNET_CUDNN_AUTOTUNE_DEFAULT",
    integer(0, 2),
    1,
    "Measure convolutions on GPUs: 1: within `workspace`; 2: without limit; 0: take cuDNN's first.",
)
GLUONISH_CUDNN_CACHE = Flag(
    "GLUONISH_CUDNN_CACHE",
    boolean(),
    True,
    "Keep measured and slowly built plans of cuDNN in MXNET_HOME, by device and versions.",
)
