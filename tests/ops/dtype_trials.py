"""Calls of operators in every pair of dtypes that they take, and what float64 gives.

The calls are the golden cases. Their arrays grow along the last axis, or the first where the
operator refuses that, by repeating what they hold, so that positions and ranges stay valid.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from gluonish.core.dtype import is_floating
from gluonish.core.errors import GluonishError
from gluonish.ops.registry import Operator, find_operator
from gluonish.ops.support.composite import input_gradients
from tests.checking.values import ArrayValue, run_kernel, runtime_attrs, spec_of
from tests.golden.case import Case
from tests.ops.fuzz_draws import valid_cases

FLOATS = ("float16", "bfloat16", "float32", "float64")
WHOLE = ("int8", "uint8", "int32", "int64")
# The last one is beyond the sizes from which kernels for large arrays run.
ROWS = (3, 64, 500, 5000, 40_000)
DTYPE_ATTRIBUTES = ("dtype", "out_type", "out_dtype")
_CASES = 3  # golden cases of an operator that are tried
_MANY = 1 << 16  # elements of 16 bits that are not tried
_LARGE = 1 << 19  # elements of arrays that are not tried
# What solves equations costs the cube of its extents, OpenCV has at most 512 channels, and a
# position that is a part of a long row is rounded with it.
_FEW = re.compile(
    r"linalg|pinv|tensor(inv|solve)|_npi_(solve|inv|svd|eig|qr)|polyval|retain|_cvim|_image_resize"
    r"|BilinearSampler|GridGenerator|SpatialTransformer"
)
# In 16 bits these choose another place, or subtract what is almost the same, where a rounded number
# decides.
_STEPS = re.compile(
    r"BilinearSampler|GridGenerator|SpatialTransformer|DeformableConvolution|_npi_nan_to_num"
    r"|_npi_polyval|(Group|Instance)Norm|_random_pdf_gen"
)
_TYPES = {name: np.dtype(getattr(ml_dtypes, name, name)) for name in (*FLOATS, *WHOLE)}


class Trial(NamedTuple):
    """A call: an operator, its arrays, attributes as a user writes them, and parsed ones."""

    op: Operator
    arrays: list[Any]
    given: dict[str, Any]
    attrs: dict[str, Any]

    def __repr__(self) -> str:
        inputs = [f"{x.dtype}{x.shape}" for x in self.arrays]
        return f"{self.op.name}({', '.join(inputs)}, {self.given})"


@cache
def names() -> list[str]:
    """Return the operators that are tried: with arrays, without chance, overwriting nothing."""
    found = {find_operator(name).name for name, cases in valid_cases().items() if cases[0].inputs}
    return sorted(name for name in found if _is_plain(find_operator(name)))


# One runs the user's code; eigenvalues are complex for most matrices, so that no call is left.
_APART = ("Custom", "_npi_eig")


def _is_plain(op: Operator) -> bool:
    return not (op.mutates or op.random or op.measure or op.across_devices or op.name in _APART)


def _grown(arrays: Sequence[Any], axis: int, extent: int) -> list[Any]:
    """Return the arrays with another extent of an axis, where they have that of the first one."""
    old = arrays[0].shape[axis]
    made = []
    for x in arrays:
        if x.ndim and x.shape[axis] == old:
            place = axis % x.ndim
            x = np.take(x, np.arange(extent) % old, axis=place)
        made.append(x)
    return made


def _is_taken(op: Operator, arrays: Sequence[Any], attrs: dict[str, Any]) -> bool:
    try:
        outputs = op.infer(*map(spec_of, arrays), **attrs)
    except GluonishError:
        return False
    return all(s.size <= _LARGE for s in (*map(spec_of, arrays), *outputs))


def _sized(op: Operator, case: Case, attrs: dict[str, Any]) -> Iterator[list[Any]]:
    arrays = case.arrays()
    if not arrays[0].ndim or not arrays[0].size:
        return
    yield arrays
    for extent in ROWS:
        if (extent > 64 and _FEW.search(op.name)) or (extent > 3 and "prod" in op.name):
            return
        for axis in (-1, 0):
            made = _grown(arrays, axis, extent)
            if _is_taken(op, made, attrs):
                yield made
                break


def _parsed(op: Operator, given: dict[str, Any], count: int) -> dict[str, Any] | None:
    if op.variadic is not None:
        given = {op.variadic: count, **given}
    try:
        return op.schema.parse(op.name, given)
    except GluonishError:
        return None


def _results(op: Operator, case: Case) -> Iterator[dict[str, Any]]:
    """Yield the attributes with every dtype that they may ask for."""
    found = [name for name in DTYPE_ATTRIBUTES if op.schema.accepts(name)]
    yield dict(case.attrs)
    for name in found:
        for dtype in (*FLOATS, *WHOLE):
            yield {**case.attrs, name: dtype}


def _typed(op: Operator, arrays: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield the arrays with their float32 in every dtype: all of them, and all but the first."""
    for dtype in _TYPES.values():
        # Sums of so many terms are not within the rounding of 16 bits.
        if dtype.itemsize == 2 and (_STEPS.search(op.name) or max(map(np.size, arrays)) > _MANY):
            continue
        with np.errstate(all="ignore"):
            made = [x.astype(dtype) if x.dtype == np.float32 else x for x in arrays]
        yield made
        if len(made) > 1 and made[0].dtype != arrays[0].dtype:
            yield [arrays[0], *made[1:]]
            yield [made[0], *arrays[1:]]


def trials(name: str) -> Iterator[Trial]:
    """Yield the calls of an operator that it takes."""
    op = find_operator(name)
    cases = [case for key, cs in valid_cases().items() if find_operator(key) is op for case in cs]
    seen = set()
    for case in [c for c in cases if c.inputs and not c.random][:_CASES]:
        for given in _results(op, case):
            attrs = _parsed(op, given, len(case.inputs))
            if attrs is None:
                continue
            for sized in _sized(op, case, attrs):
                for arrays in _typed(op, sized):
                    trial = Trial(op, arrays, given, attrs)
                    if repr(trial) not in seen and _is_taken(op, arrays, attrs):
                        seen.add(repr(trial))
                        yield trial


def _widened(trial: Trial) -> Trial:
    """Return the call with its floats in float64, if the operator takes those."""
    arrays = [x.astype(np.float64) if is_floating(x.dtype) else x for x in trial.arrays]
    attrs = dict(trial.attrs)
    for name in DTYPE_ATTRIBUTES:
        if isinstance(attrs.get(name), np.dtype) and is_floating(attrs[name]):
            attrs[name] = np.dtype(np.float64)
    wide = trial._replace(arrays=arrays, attrs=attrs)
    return wide if _is_taken(trial.op, arrays, attrs) else trial


def exact_outputs(trial: Trial) -> list[Any]:
    """Return the visible outputs as the reference kernel computes them in float64."""
    op, arrays, _, attrs = _widened(trial)
    made = run_kernel(op, op.kernel, arrays, attrs, runtime_attrs(op, attrs))
    return made[: op.num_visible(attrs)]


def exact_gradients(trial: Trial, heads: Sequence[Any]) -> list[Any]:
    """Return the gradients of the inputs in float64, None where there are none.

    Args:
        trial: The call.
        heads: Gradients of the visible outputs, None for those that have none.
    """
    op, arrays, _, attrs = _widened(trial)
    runtime = runtime_attrs(op, attrs)
    outputs = run_kernel(op, op.kernel, arrays, attrs, runtime)
    given = [
        None if h is None else ArrayValue(h.astype(y.dtype))
        for h, y in zip(heads, outputs, strict=False)
    ]
    given += [None] * (len(outputs) - len(given))
    wanted = [is_floating(x.dtype) for x in arrays]
    values = [ArrayValue(x) for x in arrays]
    with np.errstate(all="ignore"):
        found = input_gradients(op, given, values, list(map(ArrayValue, outputs)), runtime, wanted)
    return [None if g is None else g.array for g in found]
