"""Contexts: the device of an array.

A `Context` is a value (type and number), interned so that comparing two mostly compares identities.
Several ``cpu(i)`` are separate devices with their own engine lanes over the same memory, so that
multi-device code runs on a machine without GPUs.
"""

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np

from gluonish.core.class_property import ClassPropertyMeta, CurrentValue, classproperty
from gluonish.core.cpu_memory import MemoryInfo
from gluonish.core.errors import ArgumentError, ArgumentTypeError, KeyLookupError


def _default_context(cls: "type[Context]") -> "Context":
    """The current context of this thread, as a property of the class; may be assigned."""
    return _current.get()


def _set_default_context(cls: "type[Context]", ctx: "Context") -> None:
    _current.set(ctx)


def _device_advice(text: str) -> str:
    """Return the end of the message about a device's name, with the number that it ends with."""
    found = re.fullmatch(r"(cuda|gpu|cpu)[:(]?(\d*)\)?", text)
    if found is None:
        return ""
    kind, number = "gpu" if found[1] == "cuda" else found[1], found[2] or 0
    return f"; {'gpu is its name here: ' if found[1] == 'cuda' else ''}write {kind}({number})"


class Context(metaclass=ClassPropertyMeta):
    """A device: ``Context("gpu", 1)``, or a copy of another context.

    As a scope (``with mx.gpu(1):``) it becomes the device on which arrays without a ``ctx``
    argument are made.

    Args:
        device_type: ``"cpu"``, ``"gpu"``, ``"cpu_pinned"``, ``"cpu_shared"``, or a Context to copy.
        device_id: Number of the device, from 0.

    Raises:
        ArgumentError: The device type is unknown, or the number is negative.
        ArgumentTypeError: The number is not an int.
    """

    __slots__ = ("_before", "_hash", "device_id", "device_type")

    default_ctx: ClassVar[classproperty["Context"]] = classproperty(
        _default_context, _set_default_context
    )
    _default_ctx: ClassVar[CurrentValue["Context"]] = CurrentValue(
        lambda: _current.get(),
        lambda ctx: _current.set(ctx),
        lambda: _current.set(cpu()),
    )

    devtype2str: ClassVar[dict[int, str]] = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type: ClassVar[dict[str, int]] = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}

    device_type: str
    device_id: int

    def __init__(self, device_type: "str | Context", device_id: int = 0) -> None:
        if isinstance(device_type, Context):
            device_id = device_type.device_id
            device_type = device_type.device_type
        if device_type not in self.devstr2type:
            raise KeyLookupError(
                f"Context: expected device_type in {sorted(self.devstr2type)}, got {device_type!r}"
                f"{_device_advice(str(device_type))}"
            )
        if isinstance(device_id, bool) or not isinstance(device_id, int | np.integer):
            raise ArgumentTypeError(f"Context: expected an int device_id, got {device_id!r}")
        if device_id < 0:
            raise ArgumentError(f"Context: expected device_id of at least 0, got {device_id}")
        self.device_type = device_type
        self.device_id = int(device_id)
        self._hash = hash((device_type, device_id))
        self._before: list[Context] = []

    @property
    def device_typeid(self) -> int:
        """The device type's number in files: 1 cpu, 2 gpu, 3 cpu_pinned, 5 cpu_shared."""
        return self.devstr2type[self.device_type]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Context):
            return NotImplemented
        return self.device_type == other.device_type and self.device_id == other.device_id

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    def __enter__(self) -> "Context":
        self._before.append(_current.get())
        _current.set(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        # Not `pop`: an interrupt after it would leave the device unchanged.
        _current.set(self._before[-1])
        del self._before[-1]

    def __reduce__(self) -> tuple[type["Context"], tuple[str, int]]:
        return Context, (self.device_type, self.device_id)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore from a pickle of MXNet."""
        Context.__init__(self, self.devtype2str[state["device_typeid"]], state["device_id"])

    @property
    def is_host_buffer(self) -> bool:
        """Whether this is host memory for transfers: pinned, or shared between processes."""
        return self.device_type in ("cpu_pinned", "cpu_shared")

    @property
    def is_gpu(self) -> bool:
        """Whether arrays on it are CuPy's."""
        return self.device_type == "gpu"

    def empty_cache(self) -> None:
        """Release cached memory of the device to the driver.

        Raises:
            DeviceError: For a GPU: CuPy or the device is missing.
        """
        for release in cache_owners:
            release(self)

    def memory_info(self) -> MemoryInfo:
        """Return the device's memory in bytes: free, total, used, held, peak, and reserved.

        All CPU devices share one memory.

        Raises:
            DeviceError: For a GPU: CuPy or the device is missing.
        """
        return memory_readers[0](self)


# Filled by `gluonish.core.device`, which imports this module.
cache_owners: list[Callable[[Context], None]] = []
memory_readers: list[Callable[[Context], MemoryInfo]] = []

_interned: dict[tuple[str, int], Context] = {}


def _context(device_type: str, device_id: int) -> Context:
    found = _interned.get((device_type, device_id))
    if found is None:
        found = _interned.setdefault((device_type, device_id), Context(device_type, device_id))
    return found


def cpu(device_id: int = 0) -> Context:
    """Return the CPU device of this number.

    Args:
        device_id: Number of the device; all share one memory.
    """
    return _context("cpu", device_id)


def gpu(device_id: int = 0) -> Context:
    """Return the CUDA device of this number; a missing device raises an error at its first use.

    Args:
        device_id: Number of the device, from 0.
    """
    return _context("gpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """Return the page-locked host memory for copies to GPU ``device_id``.

    Args:
        device_id: Number of the GPU, from 0.
    """
    return _context("cpu_pinned", device_id)


def cpu_shared(device_id: int = 0) -> Context:
    """Return host memory that other processes can map.

    Args:
        device_id: Number of the device; all share one memory.
    """
    return _context("cpu_shared", device_id)


_DEFAULT = _context("cpu", 0)
_current: ContextVar[Context] = ContextVar("gluonish_context", default=_DEFAULT)


def current_context() -> Context:
    """Return the context of the innermost ``with`` scope, ``cpu(0)`` outside any."""
    return _current.get()


def parse_context(ctx: Context | str | None) -> Context | None:
    """Return a Context, parsed from text such as ``"cpu(0)"``; None for None or an empty string."""
    if ctx is None or isinstance(ctx, Context):
        return ctx
    if not isinstance(ctx, str):
        advice = "; a shape is one tuple: (2, 3)" if isinstance(ctx, int) else ""
        raise ArgumentTypeError(f"ctx: expected a Context or its text, got {ctx!r}{advice}")
    if not ctx:
        return None
    device_type, _, number = ctx.rstrip(")").partition("(")
    return Context(device_type, int(number or 0))
