"""What CuPy offers for CUDA itself: ``cupy.cuda``, its modules and classes; for make_surface.py.

Every public name comes with what it is: a number is the value of a constant; ``call: a, b=None``
is a function, method or class with its arguments, ``call`` one whose arguments cannot be found out;
``property``, ``module`` and ``value`` say no more than that. A class has its own under ``()``.

``cupy.cuda.cublas`` and ``cupy.cuda.nccl`` are only seen where their libraries can be loaded
(empty shared libraries that define the symbols will do).
"""

import importlib
import inspect
import re
import warnings
from collections.abc import Callable
from typing import Any

import cupy

MODULES = ("cuda", "cuda.runtime", "cuda.memory", "cuda.device", "cuda.stream")
LIBRARIES = {
    "cuda.cublas": "cupy_backends.cuda.libs.cublas",
    "cuda.driver": "cupy_backends.cuda.api.driver",
    "cuda.nccl": "cupy.cuda.nccl",
}


def _example(name: str) -> Any:
    """An instance, whose attributes are known only then; None where that takes a device."""
    cuda = cupy.cuda
    memory = cuda.UnownedMemory(4096, 8, None, 0)
    makers: dict[str, Callable[[], Any]] = {
        "Stream": lambda: cuda.Stream.null,
        "Device": lambda: cuda.Device(0),
        "MemoryPool": cuda.MemoryPool,
        "PinnedMemoryPool": cuda.PinnedMemoryPool,
        "MemoryPointer": lambda: cuda.MemoryPointer(memory, 0),
        "UnownedMemory": lambda: memory,
        "RawKernel": lambda: cupy.RawKernel("", "f"),
        "RawModule": lambda: cupy.RawModule(code=" "),
        "ElementwiseKernel": lambda: cupy.ElementwiseKernel("T x", "T y", "y = x", "f"),
        "ReductionKernel": lambda: cupy.ReductionKernel(
            "T x", "T y", "x", "a + b", "y = a", "0", "f"
        ),
        "CUDARuntimeError": lambda: cuda.runtime.CUDARuntimeError(2),
        "OutOfMemoryError": lambda: cuda.memory.OutOfMemoryError(1, 1, 1),
    }
    return makers[name]() if name in makers else None


def _classes() -> dict[str, type]:
    """The classes whose members are listed."""
    names = "Stream ExternalStream Event Device Graph MemoryPool PinnedMemoryPool MemoryPointer"
    names += " Memory UnownedMemory PinnedMemory PinnedMemoryPointer"
    found = {name: getattr(cupy.cuda, name) for name in names.split() if hasattr(cupy.cuda, name)}
    for name in ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel"):
        found[name] = getattr(cupy, name)
    found["CUDARuntimeError"] = cupy.cuda.runtime.CUDARuntimeError
    found["OutOfMemoryError"] = cupy.cuda.memory.OutOfMemoryError
    return found


def signature(function: Any) -> str | None:
    """The signature as text, without defaults' values; None where there is none to be had."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return _from_doc(function)
    words = []
    star = False
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            words.append(f"*{parameter.name}")
            star = True
        elif parameter.kind is parameter.VAR_KEYWORD:
            words.append(f"**{parameter.name}")
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not star:
                words.append("*")
                star = True
            default = "" if parameter.default is parameter.empty else "=None"
            words.append(parameter.name + default)
    return ", ".join(words)


def _from_doc(function: Any) -> str | None:
    """The signature in the first line of a compiled function's docstring, without its types."""
    found = re.match(r"[\w.]+\((.*)\)(?: ->.*)?$", (function.__doc__ or "").split("\n")[0])
    if found is None:
        return None
    words = []
    for part in re.split(r",\s*(?![^()]*\))", found.group(1)):
        name, equals, _ = part.partition("=")
        if name:
            words.append(name.split()[-1] + ("=None" if equals else ""))
    return ", ".join(words)


def _described(value: Any) -> Any:
    if inspect.ismodule(value):
        return "module"
    if isinstance(value, bool | int):
        return int(value)
    if not callable(value):
        return "value"
    text = signature(value)
    return "call" if text is None else f"call: {text}"


def _module(module: Any) -> dict[str, Any]:
    return {n: _described(getattr(module, n)) for n in sorted(dir(module)) if n[0] != "_"}


def _without_self(text: str) -> str:
    return re.sub(r"^call: (self|cls)(, |$)", "call: ", text)


def _class(name: str, kind: type) -> dict[str, Any]:
    """The members of a class, and of its instances as far as they or the docstring tell."""
    example = _example(name)
    _, _, attributes = (kind.__doc__ or "").partition("Attributes:")
    documented = re.findall(r"^\s*~?(?:\w+\.)?(\w+) \(", attributes, re.MULTILINE)
    names = {*dir(kind), *dir(example or kind), *documented}
    found: dict[str, Any] = {"()": _without_self(str(_described(kind)))}
    for member in sorted(n for n in names if n[0] != "_"):
        value = inspect.getattr_static(kind, member, None)
        if isinstance(value, staticmethod | classmethod) or callable(value):
            found[member] = _without_self(str(_described(getattr(kind, member))))
        else:
            found[member] = "property"
    return found


def cuda_surface() -> dict[str, dict[str, Any]]:
    """Modules and classes by their names, with their members."""
    found = {name: _module(importlib.import_module(f"cupy.{name}")) for name in MODULES}
    found["cuda"].update(cublas="module", nccl="module")  # looked up only when they are asked for
    found.update({name: _class(name, kind) for name, kind in _classes().items()})
    for name, place in LIBRARIES.items():
        try:
            with warnings.catch_warnings(action="ignore"):  # of a library that is missing
                module = importlib.import_module(place)
        except ImportError:
            continue
        if getattr(module, "available", True):
            found[name] = _module(module)
            if name == "cuda.nccl":
                found["NcclCommunicator"] = _class("NcclCommunicator", module.NcclCommunicator)
    return found
