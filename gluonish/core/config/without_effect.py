"""Variables of MXNet's reference table that have nothing to act on here.

They are accepted, so that a program's settings need no change. The table says why they do nothing,
and the log says it once where one of them is set.
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
MXNET_CUDNN_AUTOTUNE_DEFAULT = Flag(
    "MXNET_CUDNN_AUTOTUNE_DEFAULT",
    integer(0, 2),
    1,
    "Accepted without effect: cuDNN's heuristics choose, never a measured time: equal runs "
    "give equal bits.",
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
_reported: dict[str, object] = {}  # by name, what the call that told of it put there


def flags_without_effect() -> tuple[Flag[object], ...]:
    """The flags of this module, in the order of declaration."""
    return tuple(item for item in globals().values() if isinstance(item, Flag))


def report_without_effect() -> None:
    """Log which of these variables are set: each once in a process, whoever calls, and how often.

    The process's engine calls it when it is made, and so does who prints the table of variables.
    """
    call = object()
    for flag in flags_without_effect():
        # One step, so that of two threads one tells.
        if flag.text and _reported.setdefault(flag.name, call) is call:
            _LOG.warning("%s is set. %s", flag.name, flag.doc)
