"""Variables of MXNet's reference table that have no effect here.

They are accepted, so that a program's settings need no change. The table gives the reason, and a
warning is logged once if one is set.
"""

import logging

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import boolean, integer

MXNET_CPU_NNPACK_NTHREADS = Flag(
    "MXNET_CPU_NNPACK_NTHREADS",
    integer(1),
    4,
    "Accepted without effect: there is no NNPACK; OMP_NUM_THREADS sets oneDNN's threads.",
    acts=False,
)
MXNET_CPU_PARALLEL_COPY_SIZE = Flag(
    "MXNET_CPU_PARALLEL_COPY_SIZE",
    integer(0),
    200_000,
    "Accepted without effect: a copy runs in one thread, in parallel with compute and other "
    "copies.",
    acts=False,
)
MXNET_ENABLE_CYTHON = Flag(
    "MXNET_ENABLE_CYTHON",
    boolean(),
    True,
    "Accepted without effect: gluonish is Python, with no C interface that Cython could speed up.",
    acts=False,
)
MXNET_ENFORCE_CYTHON = Flag(
    "MXNET_ENFORCE_CYTHON",
    boolean(),
    False,
    "Accepted without effect: there are no Cython modules that could be missing.",
    acts=False,
)
MXNET_USE_TENSORRT = Flag(
    "MXNET_USE_TENSORRT",
    boolean(),
    False,
    "Accepted without effect: there is no TensorRT back end; graphs run on gluonish's own kernels.",
    acts=False,
)
MXNET_FC_TRUE_FP16 = Flag(
    "MXNET_FC_TRUE_FP16",
    boolean(),
    False,
    "Accepted without effect: products of float16 matrices are always summed in float32.",
    acts=False,
)
MXNET_GPU_TEMP_COPY = Flag(
    "MXNET_GPU_TEMP_COPY",
    integer(1),
    1,
    "Accepted without effect: each operator on a GPU has its own scratch from the memory pool.",
    acts=False,
)
MXNET_CPU_PARALLEL_RAND_COPY = Flag(
    "MXNET_CPU_PARALLEL_RAND_COPY",
    integer(1),
    1,
    "Accepted without effect: the random generator needs no copies to run on several threads.",
    acts=False,
)
MXNET_GPU_PARALLEL_RAND_COPY = Flag(
    "MXNET_GPU_PARALLEL_RAND_COPY",
    integer(1),
    4,
    "Accepted without effect: the random generator needs no copies to run on several threads.",
    acts=False,
)
MXNET_CUDNN_LIB_CHECKING = Flag(
    "MXNET_CUDNN_LIB_CHECKING",
    boolean(),
    True,
    "Accepted without effect: `gluonish doctor` checks the version of cuDNN.",
    acts=False,
)
MXNET_GPU_CUDNN_DROPOUT_STATE_COPY = Flag(
    "MXNET_GPU_CUDNN_DROPOUT_STATE_COPY",
    integer(1),
    4,
    "Accepted without effect: dropout uses the counter-based generator, and has no state in cuDNN.",
    acts=False,
)

_LOG = logging.getLogger("gluonish")
_reported: dict[str, object] = {}  # by name, a token of the call that logged it


def flags_without_effect() -> tuple[Flag[object], ...]:
    """Return the flags of this module in the order of declaration."""
    return tuple(item for item in globals().values() if isinstance(item, Flag))


def report_without_effect() -> None:
    """Log which of these variables are set, each once per process.

    Called when the process's engine is made, and when the table of variables is printed.
    """
    call = object()
    for flag in flags_without_effect():
        # Atomic, so that only one of two threads logs it.
        if flag.text and _reported.setdefault(flag.name, call) is call:
            _LOG.warning("%s is set. %s", flag.name, flag.doc)
