"""Pickling by value: lambdas, inner functions, and the contents of ``__main__``.

Workers of a DataLoader start as new interpreters that do not run the main program. cloudpickle
sends its functions and classes as code; this module adds a test for importable modules, inner
functions that share their module's globals, and replies.

The reply of a worker process may contain classes that the main process sent by value. Both
processes identify such a class by the same number: a second copy, sent back by value, would be
another class, or change the attributes of the first.
"""

import functools
import importlib
import io
import marshal
import pickle
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

from gluonish.io.shared_batch import ndarray_view
from gluonish.ndarray import NDArray

_sent: "weakref.WeakValueDictionary[int, type]" = weakref.WeakValueDictionary()
_received: dict[int, type] = {}
_origins: dict[type, int] = {}


def note_sent(cls: type) -> int:
    """Register a class that is sent by value; return its number."""
    _sent[id(cls)] = cls
    return id(cls)


def received(origin: int, make: Callable[..., type], arguments: tuple[Any, ...]) -> type:
    """Create a class that was sent by value, and record its number."""
    made = make(*arguments)
    _received[origin] = made
    _origins[made] = origin
    return made


def class_of(origin: int) -> type:
    """Return the class that was sent or received under a number; KeyError if there is none."""
    return _sent.get(origin) or _received[origin]


def dumps_reply(value: Any) -> bytes:
    """Pickle a reply to the process that sent classes by value."""
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:  # classes sent by value cannot be looked up; other errors are raised again
        file = io.BytesIO()
        _ReplyPickler(file, protocol=5).dump(value)
        return file.getvalue()


class _ReplyPickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        origin = _origins.get(obj) if isinstance(obj, type) else None
        return NotImplemented if origin is None else (class_of, (origin,))


Payload = tuple[bytes, list[pickle.PickleBuffer]]


def dumps(value: Any) -> Payload:
    """Pickle a value, with the memory of large arrays out of band.

    Returns:
        The arguments of ``pickle.loads(data, buffers=...)``.

    Raises:
        pickle.PicklingError, TypeError, AttributeError, ValueError: Something cannot be pickled.
    """
    file = io.BytesIO()
    buffers: list[pickle.PickleBuffer] = []
    _pickler()(file, protocol=5, buffer_callback=buffers.append).dump(value)
    return file.getvalue(), buffers


@functools.cache
def _pickler() -> Any:
    """Create the pickler class on first use; cloudpickle is slow to import."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc] # untyped
        def reducer_override(self, obj: Any) -> Any:
            return _reduce(obj, super().reducer_override)

    return Pickler


def _reduce(obj: Any, by_cloudpickle: Callable[[Any], Any]) -> Any:
    """Reduce a function, class, module or array; return NotImplemented for other objects."""
    if isinstance(obj, NDArray):
        return ndarray_view, (obj.asnumpy(),)
    if isinstance(obj, types.ModuleType) and obj.__name__ == "__main__":
        raise pickle.PicklingError("expected an importable module, got __main__ itself")
    if isinstance(obj, types.FunctionType | type) and not _findable(obj.__module__):
        _send_by_value(obj.__module__)
    if isinstance(obj, types.FunctionType) and _is_inner(obj):
        return _reduce_inner(obj)
    reduced = by_cloudpickle(obj)
    if isinstance(obj, type) and isinstance(reduced, tuple) and len(reduced) > 2:
        make, arguments, *rest = reduced
        return received, (note_sent(obj), make, arguments), *rest
    return reduced


@functools.cache
def _findable(module: str | None) -> bool:
    """Whether a new interpreter can import the module, which may exist in ``sys.modules`` only."""
    if module in (None, "__main__", "__mp_main__") or module not in sys.modules:
        return False
    path: Any = None
    name = ""
    for part in module.split("."):
        name = f"{name}.{part}".lstrip(".")
        specs = (finder.find_spec(name, path, None) for finder in sys.meta_path)
        spec = next((found for found in specs if found is not None), None)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return True


def _send_by_value(module: str | None) -> None:
    """Make cloudpickle send a module's functions and classes as code."""
    import cloudpickle

    if isinstance(module, str) and isinstance(sys.modules.get(module), types.ModuleType):
        cloudpickle.register_pickle_by_value(sys.modules[module])


def _is_inner(function: types.FunctionType) -> bool:
    """Whether a function belongs to an importable module but cannot be looked up there by name."""
    if not _findable(function.__module__):
        return False
    found: Any = sys.modules[function.__module__]
    if vars(found) is not function.__globals__:
        return False
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is not function


def _reduce_inner(function: types.FunctionType) -> Any:
    """Reduce an inner function so that it shares its module's globals again.

    cloudpickle would copy the globals it uses: a sentinel would lose its identity, and a lock could
    not be pickled.
    """
    cells = function.__closure__ or ()
    attributes = {
        name: getattr(function, name)
        for name in ("__defaults__", "__kwdefaults__", "__qualname__", "__module__", "__doc__")
    }
    state = [_content(cell) for cell in cells], attributes, function.__dict__
    arguments = marshal.dumps(function.__code__), function.__module__, len(cells)
    return make_inner, arguments, state, None, None, fill_inner


def _content(cell: types.CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def make_inner(code: bytes, module: str, cell_count: int) -> types.FunctionType:
    """Create an inner function with empty cells; its closure may include the function itself."""
    cells = tuple(types.CellType() for _ in range(cell_count))
    namespace = vars(importlib.import_module(module))
    return types.FunctionType(marshal.loads(code), namespace, None, None, cells)


def fill_inner(function: types.FunctionType, state: tuple[Any, ...]) -> None:
    """Set the closure and the attributes of a function from `make_inner`."""
    contents, attributes, attributes_dict = state
    for cell, content in zip(function.__closure__ or (), contents, strict=True):
        if content:
            cell.cell_contents = content[0]
    for name, value in attributes.items():
        setattr(function, name, value)
    function.__dict__.update(attributes_dict)
