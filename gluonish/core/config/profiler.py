"""The profiler, tracebacks, and checks of values."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import boolean, integer

GLUONISH_FULL_TRACEBACKS = Flag(
    "GLUONISH_FULL_TRACEBACKS",
    boolean(),
    False,
    "Keep the frames inside gluonish in tracebacks of errors that leave a network or are uncaught.",
)
MXNET_CHECK_VALUES = Flag(
    "MXNET_CHECK_VALUES",
    boolean(),
    False,
    "Check every operator's values: labels in range, no NaN and infinity, gradients that arrive.",
)
MXNET_PROFILER_AUTOSTART = Flag(
    "MXNET_PROFILER_AUTOSTART",
    boolean(),
    False,
    "Profile the program from its first operator to its exit, and write profile.json then.",
)
MXNET_PROFILER_MODE = Flag(
    "MXNET_PROFILER_MODE",
    integer(0, 1),
    0,
    "What an automatically started profiler records: 0, operators of graphs; 1, everything.",
)
