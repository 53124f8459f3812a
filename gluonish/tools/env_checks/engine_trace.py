"""engine_trace: what the engine ran meanwhile, and when, for tests and checks of overlap."""

from collections.abc import Iterator
from contextlib import contextmanager

from gluonish.engine import current_engine
from gluonish.profiler.events import Job
from gluonish.profiler.state import recording

__all__ = ["engine_trace"]


@contextmanager
def engine_trace() -> Iterator[list[Job]]:
    """Scope that gathers what is pushed to the current engine inside, as the profiler records it.

    ``with engine_trace() as ran:`` gives a list, which is filled when the scope has waited for all
    work at its end, in the order of the pushes.

    Raises:
        NotSupportedError: The profiler runs already.
    """
    ran: list[Job] = []
    current_engine().wait_all()
    with recording() as recorder:
        yield ran
        current_engine().wait_all()
        ran += recorder.jobs()
