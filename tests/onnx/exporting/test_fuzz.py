"""Random calls of every exported operator: the file gives what the reference kernel gives."""

import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import GluonishError, NotSupportedError
from gluonish.core.spec import Spec
from gluonish.graph.ir import append, variable
from gluonish.onnx.exporting.call import translators
from gluonish.ops.registry import Operator, apply
from gluonish.symbol.symbol import Symbol
from tests.onnx.exporting.judge import exported
from tests.onnx.exporting.test_golden_cases import _MISJUDGED
from tests.ops.fuzz_draws import OPERATORS, draw
from tests.ops.test_fuzz import _fill, _tame, _TooLarge

DRAWS = 3
_OPSET = 21  # in which onnx's evaluator knows all operators
# By dtype, relative to the larger of 1 and the largest value.
_TOLERANCES = {"float16": 3e-2, "bfloat16": 1e-1, "float32": 1e-3, "float64": 1e-6}
_TESTED = [
    op
    for op in OPERATORS
    if op.name in translators()
    and op.name not in _MISJUDGED
    and op.name != "moments"  # of large integers, whose sums go round in int32 and not in the file
    and not op.random
    and not op.train_dependent
]


def _symbol(op: Operator, arrays: list[Any], attrs: Any) -> Symbol:
    given = [variable(f"x{i}", Spec(x.shape, x.dtype)) for i, x in enumerate(arrays)]
    made = apply(op, given, attrs) if given else append(op, (), attrs)
    return Symbol(made if isinstance(made, list) else [made])


def _compare(got: Any, want: Any) -> None:
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    a, b = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(b)
    size = max(1.0, float(np.abs(b[finite]).max(initial=0.0)))
    tolerance = _TOLERANCES.get(want.dtype.name, 0.0) * size
    np.testing.assert_allclose(a[finite], b[finite], rtol=0, atol=tolerance)


@pytest.mark.parametrize("op", _TESTED, ids=lambda op: op.name)
def test_random_calls_give_the_same(op: Operator, tmp_path: Path) -> None:
    for i in range(DRAWS):
        call = draw(op, np.random.default_rng([i, len(op.name)]))
        attrs: dict[str, Any] = {}
        wanted = None
        with suppress(GluonishError, ValueError, _TooLarge), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            count = {} if op.variadic is None else {op.variadic: len(call.arrays)}
            attrs = op.schema.parse(op.name, {**count, **call.attrs})
            wanted, _ = _fill(op, list(call.arrays), attrs, 1)
        if wanted is None or not _tame(call.arrays) or any(x.size == 0 for x in call.arrays):
            continue
        arrays = list(call.arrays)
        try:
            symbol = _symbol(op, arrays, attrs)
        except (GluonishError, ValueError):  # another number of arrays than there are
            continue
        with suppress(NotSupportedError):
            got = exported(tmp_path / "x.onnx", symbol, {}, arrays, opset_version=_OPSET)
            for a, b in zip(got, wanted, strict=False):
                _compare(a, b)
