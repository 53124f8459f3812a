"""load: modules that come in at their first use, whole or not at all.

An import is long Python code, and half of it done is of no use to anyone. Ctrl-C, a signal's
handler or a destructor may come in its middle, where they would leave or meet a half imported
module. So the main thread, the only one that runs handlers, has a helper thread import, and waits
for it: what interrupts the wait leaves the import alone, and a handler that needs the same module
waits as any other thread does. Imports take turns, as two that begin at different ends of a package
would be a deadlock to Python.

A thread that is in the middle of an import of gluonish's imports by itself: the helper could wait
for what this thread holds. If its handler or destructor then needs the very module, that is
imported a second time (`_import_again`), and the import system drops the partial one.

So a module's code may run again after it failed half way, or beside itself. What it registers
elsewhere is replaced by that of the module that is whole: `is_whole` and `is_superseded` tell.
`_Finder` is for any import of gluonish's, by a statement, too. The collector of garbage pauses, as
destructors work with arrays; a package that fails takes along what it has imported of itself.
"""

import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType
from typing import Any

from gluonish.core.collection_pause import CollectionPause
from gluonish.core.helper_thread import in_helper_thread
from gluonish.core.turn import Turn

_OURS = ("gluonish", "gluonish_engine")
_turn = Turn()


def load(name: str) -> ModuleType:
    """Return a module, imported if it was not yet, and never half of it.

    Args:
        name: Its dotted name.

    Raises:
        ImportError: As the import says.
    """
    module = sys.modules.get(name)
    if module is not None and not is_partial(module):
        return module
    frame = sys._getframe(1)
    half = _half_imported(frame)
    if not half:
        return in_helper_thread(lambda: _in_turn(name))
    if module is not None and name in half and _is_code_of_module(frame):
        return module  # a package that asks for itself
    return _import_inside(name, half, frame)


def _in_turn(name: str) -> ModuleType:
    with _turn:
        return importlib.import_module(name)


def is_partial(module: object) -> bool:
    """Return whether a module is in the middle of its import."""
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def _half_imported(frame: FrameType | None) -> list[str]:
    """Return the modules of gluonish's that the calls down to a frame are in the middle of."""
    found = []
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            spec: Any = frame.f_globals.get("__spec__")
            if getattr(spec, "_initializing", False) and spec.name.partition(".")[0] in _OURS:
                found.append(spec.name)
        frame = frame.f_back
    return found


def _is_code_of_module(frame: FrameType | None) -> bool:
    """Return whether a module's own code asks, by an attribute that is there at its first use."""
    while frame is not None and "_LOADS_FOR_PACKAGES" in frame.f_globals:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_name == "<module>"


def _import_inside(name: str, half: list[str], frame: FrameType) -> ModuleType:
    """Import a module from the code of others, or from a handler or destructor on top of that."""
    if name not in half:
        try:
            if _is_beside_import(frame):
                # Their functions may need what their code has not defined yet.
                modules = (
                    other for other in half if not hasattr(sys.modules.get(other), "__path__")
                )
                return _import_again(name, list(modules))
            return importlib.import_module(name)
        except ModuleNotFoundError:
            raise
        except (AttributeError, ImportError):  # it met one of them, perhaps
            if all(not is_partial(sys.modules.get(other)) for other in half):
                raise
    return _import_again(name, half)


def _is_beside_import(frame: FrameType | None) -> bool:
    """Return whether code that is no part of an import asks: a handler's, or a destructor's."""
    while frame is not None and frame.f_code.co_name != "<module>":
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in (*_OURS, "importlib"):
            return True
        frame = frame.f_back
    return False


def _import_again(name: str, half: list[str]) -> ModuleType:
    """Import a module, and anew what this thread has imported half of: those come out whole."""
    aside = {other: sys.modules.pop(other) for other in half if other in sys.modules}
    try:
        return importlib.import_module(name)
    finally:
        for other, module in aside.items():
            sys.modules.setdefault(other, module)


def importing_frame(frame: FrameType) -> FrameType:
    """Return the frame of the module whose code led to a frame, or else that frame itself."""
    found: FrameType | None = frame
    while found is not None and found.f_code.co_name != "<module>":
        found = found.f_back
    return frame if found is None else found


def is_whole(namespace: Mapping[str, Any]) -> bool:
    """Return whether a namespace is that of an imported module, and all of its code has run."""
    module = sys.modules.get(namespace.get("__name__", ""))
    return getattr(module, "__dict__", None) is namespace and not is_partial(module)


def is_superseded(namespace: Mapping[str, Any]) -> bool:
    """Return whether a module has been imported anew, and whole, beside this namespace of it."""
    module = sys.modules.get(namespace.get("__name__", ""))
    return module is not None and vars(module) is not namespace and not is_partial(module)


# A child that is forked in the middle of another thread's import would wait for it for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_turn.__enter__,
        after_in_parent=_turn.__exit__,
        after_in_child=_turn.__exit__,
    )


_completions: dict[str, list[Callable[[ModuleType], None]]] = {}


def when_whole(name: str, complete: Callable[[ModuleType], None]) -> None:
    """Call a function with a module of gluonish's when all of its code has run.

    Args:
        name: The module's dotted name.
        complete: Called now if the module is there, and after each import of it.
    """
    _completions.setdefault(name, []).append(complete)
    module = sys.modules.get(name)
    if module is not None and not is_partial(module):
        complete(module)


class _Finder:
    """Finds gluonish's modules as Python does, and has them come in as this module says."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return find_module(fullname, path) if fullname.partition(".")[0] in _OURS else None


_begun: set[str] = set()


def find_module(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """Return the spec of a module of gluonish's: its finder's answer to the import system.

    Args:
        name: The module's dotted name.
        path: Where the package has its modules.
    """
    spec = PathFinder.find_spec(name, path)
    if spec is not None and spec.loader is not None:
        loader: Any = spec.loader
        run, again = loader.exec_module, name in _begun
        _begun.add(name)

        def run_whole(module: ModuleType) -> None:
            try:
                with CollectionPause():
                    _run_whole(module, name, run, again)
                    for complete in _completions.get(name, ()):
                        complete(module)
            except BaseException:
                if sys.modules.get(name) is module and "." in name:
                    for child, _ in _children(name):
                        sys.modules.pop(f"{name}.{child}", None)
                raise

        loader.exec_module = run_whole
    return spec


def _run_whole(
    module: ModuleType, name: str, run: Callable[[ModuleType], None], again: bool
) -> None:
    if again:  # after a failure, or beside a half import: they are there, and no one shows them
        for child, found in _children(name):
            if "." not in child:
                setattr(module, child, found)
    run(module)
    parent, _, last = name.rpartition(".")
    # Python does all this, too, but an interrupt may come before.
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)
    spec: Any = module.__spec__
    spec._initializing = False


def _children(package: str) -> list[tuple[str, ModuleType]]:
    """Return the modules of a package that are imported, each with the rest of its name."""
    start = f"{package}."
    return [
        (name.removeprefix(start), module)
        for name, module in list(sys.modules.items())
        if name.startswith(start) and not is_partial(module)
    ]


sys.meta_path.insert(0, _Finder())
