"""Output dtypes of each operator for each input dtype: those of MXNet 1.9.1; bfloat16 as float16.

tests/golden/make_dtype_table.py has stored MXNet's.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gluonish.core.errors import GluonishError
from gluonish.ops.registry import find_operator
from tests.checking.values import spec_of
from tests.golden.case import Case, first_cases

GOLDEN = Path(__file__).parents[1] / "golden"
TABLE: dict[str, dict[str, list[str]]] = json.loads(
    (GOLDEN / "dtype_table.json").read_text("utf-8")
)
CASES = first_cases(GOLDEN / "cases")
# Dtypes that MXNet takes and we refuse, and why.
REFUSED = {
    "_contrib_quantize_v2": (("int8", "uint8"), "MXNet ignores that no range was given"),
    "_cvimresize": (("int8", "int32", "int64"), "MXNet's OpenCV wraps around, or aborts"),
    "_image_resize": (("int8", "int32", "int64"), "MXNet's OpenCV wraps around, or aborts"),
    "_contrib_hawkesll": (("int8", "uint8", "int32", "int64"), "logarithms in whole numbers"),
    "_scatter_minus_scalar": (("bool",), "no public function leads there with truth values"),
    "_scatter_plus_scalar": (("bool",), "no public function leads there with truth values"),
}
# `amp_cast` asks for float16 by its own argument.
HALVES = sorted(op for op in TABLE if "float16" in TABLE[op] and op != "amp_cast")


def _typed(case: Case, dtype: Any) -> list[Any]:
    with np.errstate(all="ignore"):
        return [x.astype(dtype) if x.dtype == np.float32 else x for x in case.arrays()]


def _dtypes(name: str, arrays: Sequence[Any]) -> list[str]:
    op = find_operator(name)
    given = dict(CASES[name].attrs)
    if op.variadic is not None:
        given = {op.variadic: len(arrays), **given}
    attrs = op.schema.parse(name, given)
    specs = op.infer(*map(spec_of, arrays), **attrs)
    return [np.dtype(spec.dtype).name for spec in specs]


@pytest.mark.parametrize("name", sorted(TABLE))
def test_dtypes_are_those_of_mxnet(name: str) -> None:
    found = {}
    refused, _ = REFUSED.get(name, ((), ""))
    table = {dtype: given for dtype, given in TABLE[name].items() if dtype not in refused}
    for dtype, wanted in table.items():
        try:
            found[dtype] = _dtypes(name, _typed(CASES[name], dtype))[: len(wanted)]
        except GluonishError as error:
            found[dtype] = [str(error)]
    assert found == table


@pytest.mark.parametrize("name", HALVES)
def test_bfloat16_gives_what_float16_gives(name: str) -> None:
    halves = _dtypes(name, _typed(CASES[name], np.float16))
    found = _dtypes(name, _typed(CASES[name], ml_dtypes.bfloat16))
    assert found == ["bfloat16" if dtype == "float16" else dtype for dtype in halves]
