"""Functions of `gluonish.numpy.array_api` against array-api-strict.

Element types, shapes and values of all calls in `conformance.py` are compared, except for those in
skips.txt. The standard's own test suite, array-api-tests, is on no package index.
"""

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.numpy import array_api as xp

strict = pytest.importorskip("array_api_strict", reason="needs the package array-api-strict")

HERE = Path(__file__).parent


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"array_api_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


conformance = _load("conformance")
CALLS = {
    name: list(calls)
    for name, calls in groupby(
        sorted(conformance.all_calls(), key=attrgetter("function")), attrgetter("function")
    )
}
SKIPS = [
    line.split("\t")
    for line in (HERE / "skips.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
# Arrays have no complex element types, so these and the extension fft are missing.
MISSING = {"complex64", "complex128", "fft"}
# The default floating type of ours is float32, and of array-api-strict float64.
DEFAULTS = {"arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros"}
TOLERANCE = {np.dtype("float32"): 2e-5, np.dtype("float64"): 1e-9}


def _is_skipped(call: Any) -> bool:
    return any(
        fnmatchcase(call.function, name) and fnmatchcase(call.label, label)
        for name, label, _reason in SKIPS
    )


def _hosted(value: Any) -> Any:
    """Return arrays of both libraries as NumPy arrays, tuples as lists."""
    if isinstance(value, tuple | list):
        return [_hosted(each) for each in value]
    if isinstance(value, mx.nd.NDArray):
        return value.asnumpy()
    return np.asarray(value) if isinstance(value, type(strict.zeros(0))) else value


def _problems(found: Any, expected: Any, call: Any) -> Iterator[str]:
    if isinstance(expected, list):
        if len(found) != len(expected):
            yield f"{len(found)} results, expected {len(expected)}"
        for one, other in zip(found, expected, strict=False):
            yield from _problems(one, other, call)
        return
    if not isinstance(expected, np.ndarray):
        if found != expected:
            yield f"{found}, expected {expected}"
        return
    if type(found) is not np.ndarray or found.shape != expected.shape:
        yield f"{type(found).__name__} of {np.shape(found)}, expected {expected.shape}"
        return
    is_default = call.function in DEFAULTS and (found.dtype, expected.dtype) == ("f4", "f8")
    if found.dtype != expected.dtype and not is_default:
        yield f"dtype {found.dtype}, expected {expected.dtype}"
    elif call.exact:
        tolerance = TOLERANCE.get(found.dtype, 0)
        nan = found.dtype.kind == "f"
        if not np.allclose(found, expected, tolerance, tolerance, equal_nan=nan):
            yield f"{found}, expected {expected}"


@pytest.mark.parametrize("name", sorted(CALLS))
def test_function_gives_what_the_standard_says(name: str) -> None:
    problems = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of the oracle
        for call in CALLS[name]:
            if _is_skipped(call):
                continue
            expected = _hosted(call.run(strict, lambda x: strict.asarray(np.array(x))))
            found = _hosted(call.run(xp, lambda x: mx.np.array(np.array(x))))
            problems += [f"{call.label}: {text}" for text in _problems(found, expected, call)]
    assert not problems, "\n".join(problems)


def test_isin_inverts_as_numpy_does() -> None:
    a, b = np.array([[1, 2], [3, 4]]), np.array([2, 4])
    found = xp.isin(mx.np.array(a), mx.np.array(b), invert=True)
    assert found.tolist() == np.isin(a, b, invert=True).tolist()


def _functions() -> Iterator[tuple[str, Any, Any]]:
    others = {"ArrayAPIStrictFlags", "Device", "__version__"}
    for prefix, ours, standard in (("", xp, strict), ("linalg.", xp.linalg, strict.linalg)):
        for name in standard.__all__:
            if name not in others and not name.endswith("_flags") and name not in MISSING:
                yield prefix + name, ours, standard


@pytest.mark.parametrize(
    ("name", "ours", "standard"), list(_functions()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_name_is_there_with_the_standards_signature(name: str, ours: Any, standard: Any) -> None:
    short = name.removeprefix("linalg.")
    function, wanted = getattr(ours, short), getattr(standard, short)
    assert short in ours.__all__
    if callable(wanted) and not isinstance(wanted, type):
        problem = conformance.signature_problem(function, wanted)
        # The device of astype and the names of 2025.12 are newer than the version offered.
        assert not problem, f"{name}: {problem}"


def test_functions_of_the_standard_are_all_called() -> None:
    constants = {"e", "inf", "nan", "newaxis", "pi", "linalg", "__array_api_version__", "bool"}
    untested = {
        name
        for name, _, standard in _functions()
        if name not in CALLS
        and name not in constants
        and callable(getattr(standard, name.removeprefix("linalg."), None))
    }
    assert untested == {"__array_namespace_info__", "conj", "imag"}


def test_arrays_are_real() -> None:
    x = mx.np.array([1.0, -2.0])
    assert xp.conj(x).tolist() == [1, -2]
    assert xp.imag(x).tolist() == [0, 0]


def test_methods_of_arrays_are_those_of_the_standard() -> None:
    standard = type(strict.zeros(0))
    own = {"__buffer__"}  # NumPy's arrays only
    names = {
        name
        for name in dir(standard)
        if (not name.startswith("_") or name.startswith("__")) and name not in own
    }
    assert {name for name in names if not hasattr(mx.np.ndarray, name)} == set()
