"""load: import modules at their first use, completely or not at all.

An import is long Python code, and a half imported module is useless. Ctrl-C, a signal handler or a
destructor may interrupt it, where they would leave or find a partial module. So the main thread,
the only one that runs handlers, imports in a helper thread and waits for it: an interrupt of the
wait does not affect the import, and a handler that needs the same module waits like any other
thread. One lock serializes imports, because two that begin at different ends of a package would
deadlock.

A thread that is inside an import of gluonish imports directly, as the helper could wait for this
thread. If its handler or destructor needs the same module, that is imported a second time
(`_reimport`), and the import system drops the partial one.

So a module's code may run again after a failure, or concurrently. Registrations of a partial module
are replaced by those of the complete one: see `is_complete` and `is_superseded`. `_Finder` applies
this to import statements, too. The garbage collector pauses meanwhile, because destructors work
with arrays. If a package fails, its imported submodules are removed.
"""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType
from typing import Any

from gluonish.core.collection_pause import CollectionPause, begin_import, end_import
from gluonish.core.helper_thread import in_helper_thread
from gluonish.core.operating_system import on_fork
from gluonish.core.timeout_lock import TimeoutLock

_OURS = ("gluonish", "gluonish_engine")
_lock = TimeoutLock()


def load(name: str) -> ModuleType:
    """Return a module by its dotted name, imported completely.

    Raises:
        ImportError: The import failed.
    """
    module = sys.modules.get(name)
    if module is not None and not is_partial(module):
        return module
    frame = sys._getframe(1)
    partial = _partial_imports(frame)
    if not partial:
        return in_helper_thread(lambda: _import_locked(name))
    if module is not None and name in partial and _is_code_of_module(frame):
        return module  # a package that loads itself
    return _import_inside(name, partial, frame)


def _import_locked(name: str) -> ModuleType:
    with _lock:
        return importlib.import_module(name)


def is_partial(module: object) -> bool:
    """Return whether a module is being imported."""
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def _partial_imports(frame: FrameType | None) -> list[str]:
    """Return the modules of gluonish that the callers of a frame are importing."""
    found = []
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            spec: Any = frame.f_globals.get("__spec__")
            if getattr(spec, "_initializing", False) and spec.name.partition(".")[0] in _OURS:
                found.append(spec.name)
        frame = frame.f_back
    return found


def _is_code_of_module(frame: FrameType | None) -> bool:
    """Return whether a module's own code accesses a lazy attribute."""
    while frame is not None and "_LOADS_FOR_PACKAGES" in frame.f_globals:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "<module>"


def _import_inside(name: str, partial: list[str], frame: FrameType) -> ModuleType:
    """Import a module inside another import, or in a handler or destructor that interrupts one."""
    if name not in partial:
        try:
            if _is_outside_import(frame):
                # Functions of partial modules may need names that are not defined yet.
                modules = (
                    other for other in partial if not hasattr(sys.modules.get(other), "__path__")
                )
                return _reimport(name, list(modules))
            return importlib.import_module(name)
        except ModuleNotFoundError:
            raise
        except (AttributeError, ImportError):  # perhaps because of a partial module
            if all(not is_partial(sys.modules.get(other)) for other in partial):
                raise
    return _reimport(name, partial)


def _is_outside_import(frame: FrameType | None) -> bool:
    """Return whether a handler or a destructor, not the import itself, made the call."""
    while frame is not None and frame.f_code.co_name != "<module>":
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in (*_OURS, "importlib"):
            return True
        frame = frame.f_back
    return False


def _reimport(name: str, partial: list[str]) -> ModuleType:
    """Import a module, and import this thread's partial modules again, completely."""
    removed = {other: sys.modules.pop(other) for other in partial if other in sys.modules}
    try:
        return importlib.import_module(name)
    finally:
        for other, module in removed.items():
            sys.modules.setdefault(other, module)


def importing_frame(frame: FrameType) -> FrameType:
    """Return the nearest calling frame that is module code; the frame itself if there is none."""
    found: FrameType | None = frame
    while found is not None and found.f_code.co_name != "<module>":
        found = found.f_back
    return frame if found is None else found


def is_complete(namespace: Mapping[str, Any]) -> bool:
    """Return whether a namespace belongs to a completely imported module."""
    module = sys.modules.get(namespace.get("__name__", ""))
    return getattr(module, "__dict__", None) is namespace and not is_partial(module)


def is_superseded(namespace: Mapping[str, Any]) -> bool:
    """Return whether the module of a namespace was imported again, completely."""
    module = sys.modules.get(namespace.get("__name__", ""))
    return module is not None and vars(module) is not namespace and not is_partial(module)


# A child forked during another thread's import would wait for that import forever.
on_fork(_lock.__enter__, after_in_parent=_lock.__exit__, after_in_child=_lock.__exit__)


_completions: dict[str, list[Callable[[ModuleType], None]]] = {}


def when_complete(name: str, complete: Callable[[ModuleType], None]) -> None:
    """Call ``complete`` with a module, now if it is imported, and after each import of it.

    The module may be one of another package.
    """
    _completions.setdefault(name, []).append(complete)
    module = sys.modules.get(name)
    if module is not None and not is_partial(module):
        complete(module)


class _Finder:
    """Finds gluonish's modules as Python does, and applies the rules above to their import.

    It also finds the modules of other packages that `when_complete` waits for.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in _OURS:
            return find_module(fullname, path)
        return _find_observed(fullname, path) if fullname in _completions else None


def _find_observed(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the spec of a module of another package that `when_complete` waits for."""
    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        loader: Any = spec.loader
        run = loader.exec_module

        def run_observed(module: ModuleType) -> None:
            run(module)
            for complete in _completions.get(name, ()):
                complete(module)

        loader.exec_module = run_observed
    return spec


_begun: set[str] = set()


def find_module(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the spec of a module of gluonish, with a loader that imports it completely."""
    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        loader: Any = spec.loader
        run, repeated = loader.exec_module, name in _begun
        _begun.add(name)

        def run_complete(module: ModuleType) -> None:
            try:
                with CollectionPause():
                    _run_complete(module, name, run, repeated)
                    for complete in _completions.get(name, ()):
                        complete(module)
            except BaseException:
                end_import()
                if sys.modules.get(name) is module and "." in name:
                    for child, _ in _children(name):
                        sys.modules.pop(f"{name}.{child}", None)
                raise

        loader.exec_module = run_complete
    return spec


def _run_complete(
    module: ModuleType, name: str, run: Callable[[ModuleType], None], repeated: bool
) -> None:
    if repeated:  # submodules of an earlier import, which are not attributes yet
        for child, found in _children(name):
            if "." not in child:
                setattr(module, child, found)
    run(module)
    parent, _, last = name.rpartition(".")
    # Python does the same, but an interrupt may come before.
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)
    spec: Any = module.__spec__
    spec._initializing = False


def _children(package: str) -> list[tuple[str, ModuleType]]:
    """Return the imported modules of a package, with their names relative to it."""
    start = f"{package}."
    return [
        (name.removeprefix(start), module)
        for name, module in list(sys.modules.items())
        if name.startswith(start) and not is_partial(module)
    ]


# Errors of an optional package that is broken, or incompatible with other packages.
IMPORT_FAILURES = (
    ImportError,
    OSError,
    RuntimeError,
    AttributeError,
    TypeError,
    ValueError,
    LookupError,
    SyntaxError,
    SystemError,
    SystemExit,
)


def import_text(error: BaseException) -> str:
    """Describe a failed import, to follow "got" in a message: missing, or broken and why."""
    if isinstance(error, ModuleNotFoundError):
        return "none"
    kind = "" if isinstance(error, ImportError | OSError) else f"{type(error).__name__}: "
    return f"one that cannot be imported ({kind}{' '.join(str(error).split())})"


sys.meta_path.insert(0, _Finder())
begin_import()
