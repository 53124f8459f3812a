"""The loaded library that the kernels of this package use."""

from typing import NamedTuple

from gluonish.core.operating_system import on_fork
from gluonish.kernels.onednn.api import Api, OneDNNError, locate
from gluonish.kernels.onednn.cache import PlanCache
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import describable
from gluonish.ops.kernel import Array, RefusedError

DEFAULT_CACHE_CAPACITY = 1024  # plans


class Backend(NamedTuple):
    """A loaded library: its engine, and the cache of plans."""

    engine: Engine
    plans: PlanCache


class Loaded(NamedTuple):
    """The result of `load`: the back end, or None and the reason why it cannot be used."""

    backend: Backend | None
    reason: str


class _State:
    """The back end in use; replaced by one assignment, so that readers need no lock."""

    loaded = Loaded(None, "oneDNN: expected a loaded library, got none; call load() first")
    fork_handler_registered = False


def load(
    path: str | None = None,
    *,
    cache_capacity: int = DEFAULT_CACHE_CAPACITY,
    threads: int = 0,
    workspaces: int = 1,
) -> Loaded:
    """Load the library, and make the kernels of this package use it.

    Args:
        path: The shared library's file; None for the installed wheel's.
        cache_capacity: Number of plans to cache, and of primitives in the library's own cache;
            negative for no limit of plans.
        threads: Number of threads of each primitive; 0 for OpenMP's default, which is
            ``OMP_NUM_THREADS`` when the library was loaded, else all cores.
        workspaces: Number of large scratch buffers to keep for each device.

    Returns:
        The back end; or None and the reason, in which case no kernel of this package is available.
    """
    install(_open(path, cache_capacity, threads, workspaces))
    if not _State.fork_handler_registered:
        on_fork(after_in_child=_forget_workers)
        _State.fork_handler_registered = True
    return _State.loaded


def install(loaded: Loaded) -> Loaded:
    """Make the kernels use the result of an earlier `load`; return the result used so far."""
    previous, _State.loaded = _State.loaded, loaded
    return previous


def status() -> Loaded:
    """Return the loaded library in use, or the reason why there is none."""
    return _State.loaded


def _open(path: str | None, cache_capacity: int, threads: int, workspaces: int) -> Loaded:
    location = locate(path)
    if location.path is None:
        return Loaded(None, f"oneDNN: expected a library, got none: {location.reason}")
    try:
        engine = Engine(Api(location.path), threads, workspaces)
        if cache_capacity >= 0:
            engine.api.limit_primitives(min(cache_capacity, DEFAULT_CACHE_CAPACITY))
    except (OneDNNError, RefusedError) as error:
        return Loaded(None, str(error))
    return Loaded(Backend(engine, PlanCache(engine, cache_capacity)), "")


def current() -> Backend:
    """Return the back end in use.

    Raises:
        OneDNNError: No library is loaded.
    """
    backend = _State.loaded.backend
    if backend is None:
        raise OneDNNError(_State.loaded.reason)
    return backend


def supported(*arrays: Array) -> bool:
    """Whether a library is loaded, computes in the arrays' common dtype, and can address them."""
    backend = _State.loaded.backend
    if backend is None:
        return False
    dtype = arrays[0].dtype
    if dtype not in backend.engine.data_types:
        return False
    return all(array.dtype == dtype and describable(array) for array in arrays)


def _forget_workers() -> None:
    backend = _State.loaded.backend
    if backend is not None:
        backend.engine.forget_workers()
        backend.plans.clear()
