"""The profiler, and tracebacks."""

from gluonish.core.config.flag import Flag
from gluonish.core.config.kind import boolean, integer

GLUONISH_FULL_TRACEBACKS = Flag(
    "GLUONISH_FULL_TRACEBACKS",
    boolean(),
    False,
    "Keep the frames inside gluonish in the tracebacks of errors that leave a network.",
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
