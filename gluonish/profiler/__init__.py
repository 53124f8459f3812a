"""The profiler: traces for Chrome and Perfetto, and tables of times."""

from gluonish.profiler.events import scope
from gluonish.profiler.objects import Counter, Domain, Event, Frame, Marker, Task
from gluonish.profiler.state import (
    dump,
    dump_profile,
    dumps,
    pause,
    profiler_kvstore_handle,
    profiler_set_config,
    profiler_set_state,
    resume,
    set_config,
    set_kvstore_handle,
    set_state,
)

__all__ = [
    "Counter",
    "Domain",
    "Event",
    "Frame",
    "Marker",
    "Task",
    "dump",
    "dump_profile",
    "dumps",
    "pause",
    "profiler_kvstore_handle",
    "profiler_set_config",
    "profiler_set_state",
    "resume",
    "scope",
    "set_config",
    "set_kvstore_handle",
    "set_state",
]
