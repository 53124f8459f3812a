"""``cupy.linalg`` and ``cupy.fft`` of the double, with what cuSOLVER and cuFFT refuse.

Checked on CuPy 14.2: 16-bit floats are refused, `solve` broadcasts no stacks, `qr` and `svd` take
empty matrices, `inv`, `eigh` and `qr` empty stacks. Of empty stacks in `cholesky` and `solve` the
answer is not known, so the double refuses them. A failure of the algorithm gives undefined numbers
unless ``cupyx.errstate(linalg="raise")`` is on, so the double asks for that.
"""

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.kernels.cupy.arrays import Array, flatten, run
from tests.kernels.cupy.captures import refuse_library
from tests.kernels.cupy.machine import Machine
from tests.kernels.cupy.surface import SURFACE, check_call

# The order of eigenvalues is CuPy's own, and they came with CuPy 14; the rest nobody asked for yet.
_KNOWN = ("cholesky", "det", "eigh", "eigvalsh", "inv", "qr", "slogdet", "solve", "svd")
_KINDS = {np.dtype(c) for c in ("f4", "f8", "c8", "c16")}
_here = threading.local()


class errstate:
    """``cupyx.errstate`` with the only setting that the kernels need."""

    def __init__(self, *, linalg: str) -> None:
        assert linalg in ("ignore", "raise")
        self._wanted = linalg

    def __enter__(self) -> None:
        self._before = getattr(_here, "linalg", "ignore")
        _here.linalg = self._wanted

    def __exit__(self, *exc_info: object) -> None:
        _here.linalg = self._before


def _check(name: str, arrays: tuple[Any, ...]) -> None:
    assert getattr(_here, "linalg", "ignore") == "raise", f"{name}: failures would go unseen"
    for array in arrays:
        if not isinstance(array, Array):
            raise TypeError(f"cupy.linalg.{name}: expected cupy.ndarray, got {type(array)}")
        if array.dtype not in _KINDS:
            raise TypeError(f"{array.dtype} is unsupported in linalg")
    if name in ("cholesky", "solve") and arrays[0].ndim > 2:
        assert arrays[0].size, f"cupy.linalg.{name} of an empty stack: not known"
    if name == "solve" and arrays[1].ndim > 1:
        a, b = arrays
        if a.ndim != b.ndim or a.shape[:-1] != b.shape[:-1]:
            raise ValueError("a must have (..., M, M) shape and b must have (..., M, K)")


def _run(machine: Machine, what: str, known: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    sources: list[Array] = []
    plain = [flatten(x, sources) for x in args]
    return run(machine, what, lambda: known(*plain, **kwargs), sources)


def make_linalg(machine: Machine) -> Any:
    """Return a module like ``cupy.linalg``."""

    def function(name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            check_call(f"linalg.{name}", SURFACE["linalg"][name], args, kwargs)
            _check(name, args)
            refuse_library(machine, "cuSOLVER")
            machine.counts.downloads += 1  # whether it failed
            machine.counts.synchronizations += 1
            return _run(machine, f"linalg.{name}", _plain(np.linalg, name), args, kwargs)

        return call

    return SimpleNamespace(**{name: function(name) for name in _KNOWN})


def make_fft(machine: Machine) -> Any:
    """Return a module like ``cupy.fft``."""

    def function(name: str) -> Callable[..., Any]:
        def call(a: Any, *args: Any, **kwargs: Any) -> Any:
            check_call(f"fft.{name}", SURFACE["fft"][name], (a, *args), kwargs)
            assert a.dtype in _KINDS, f"cupy.fft.{name} of {a.dtype}: not known"
            return _run(machine, f"fft.{name}", _plain(np.fft, name), (a, *args), kwargs)

        return call

    return SimpleNamespace(**{name: function(name) for name in ("fft", "ifft")})


def _plain(module: Any, name: str) -> Callable[..., Any]:
    """Return NumPy's function, giving several results as a tuple without names."""
    known = getattr(module, name)

    def function(*args: Any, **kwargs: Any) -> Any:
        result = known(*args, **kwargs)
        return tuple(result) if isinstance(result, tuple) else result

    return function
