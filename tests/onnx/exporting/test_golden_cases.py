"""Every case of tests/golden/cases, exported: the file gives what MXNet 1.9.1 gave, or a reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gluonish.core.errors import NotSupportedError
from gluonish.core.spec import Spec
from gluonish.graph.ir import append, variable
from gluonish.onnx.exporting.call import translator_of, translators
from gluonish.onnx.exporting.inexpressible import REASONS, reason_of
from gluonish.ops.registry import all_operators, apply, find_operator
from gluonish.symbol.symbol import Symbol
from tests.golden.case import Case
from tests.onnx.exporting.judge import exported
from tests.ops.test_golden_cases import VALID, Entry, _golden, _parsed

# What the reference evaluator computes wrongly; tests/onnx/by_onnxruntime.py holds these, too.
_MISJUDGED = {
    "LRN": "it sums over as many channels as there are pictures",
    "Deconvolution": "it takes one axis with groups for two axes",
    "ROIPooling": "it has no MaxRoiPool",
    "col2im": "it takes the groups of a transposed convolution for one",
}
# The first opset of what an operator needs, or that the evaluator knows it in.
_NEWER = {
    "BilinearSampler": 20,
    "SpatialTransformer": 20,
}
# Operators of which some calls are refused, with what the refusal says.
PARTLY = {
    "_npi_norm": "singular values",
    "_contrib_ROIAlign": "no channel of its own",
    "RNN": "a projection and sequences of different lengths",
}
TOLERANCES = {"float16": (2e-2, 2e-3), "float32": (1e-4, 2e-5), "float64": (1e-7, 1e-9)}


def _is_compared(entry: Entry) -> bool:
    """Whether MXNet's stored results are those of inference."""
    op, attrs = _parsed(entry.case, len(entry.case.inputs))
    if entry.case.random:
        return False
    if entry.case.op == "RNN":
        return not attrs["p"]
    return not (op.random or (op.train_dependent and entry.case.train))


def _symbol(entry: Entry, arrays: list[Any]) -> Symbol:
    op, attrs = _parsed(entry.case, len(arrays))
    given = [variable(f"x{i}", Spec(x.shape, x.dtype)) for i, x in enumerate(arrays)]
    made = apply(op, given, attrs) if given else append(op, (), attrs)
    return Symbol(made if isinstance(made, list) else [made])


def _tolerance(entry: Entry, want: Any) -> tuple[float, float]:
    floats = [x.dtype for x in entry.case.arrays() if x.dtype.kind == "f"] + [want.dtype]
    rtol, atol = TOLERANCES.get(min(floats, key=lambda dtype: dtype.itemsize).name, (0.0, 0.0))
    case = entry.case
    if case.op in _NEWER:  # the evaluator computes places in float32
        rtol = max(rtol, 1e-6)
    return max(rtol, case.rtol or 0), max(atol, case.atol or 0)


def _is_judged(case: Case) -> bool:
    groups = case.attrs.get("num_group", 1) > 1 and len(case.attrs["kernel"]) == 1
    if case.op == "RNN":  # it has no Relu there, and reads no lengths
        return case.attrs["mode"] != "rnn_relu" and not case.attrs.get("use_sequence_length")
    return case.op not in _MISJUDGED or (case.op == "Deconvolution" and not groups)


EXPRESSIBLE = [
    entry
    for entry in VALID
    if _is_compared(entry)
    and _is_judged(entry.case)
    and translator_of(find_operator(entry.case.op).name) is not None
]


@contextmanager
def _perhaps_refused(entry: Entry) -> Iterator[None]:
    try:
        yield
    except NotSupportedError as error:
        if PARTLY.get(entry.case.op, "none of it") not in str(error):
            raise


@pytest.mark.parametrize("entry", EXPRESSIBLE, ids=repr)
def test_exported_operator_gives_what_mxnet_gives(entry: Entry, tmp_path: Path) -> None:
    arrays = entry.case.arrays()
    outputs = []
    with _perhaps_refused(entry):
        opset = 19 if entry.family == "quantization" else _NEWER.get(entry.case.op)
        symbol = _symbol(entry, arrays)
        outputs = exported(tmp_path / "x.onnx", symbol, {}, arrays, opset_version=opset)
    for i, (got, want) in enumerate(zip(outputs, _wanted(entry), strict=False)):
        if want is not None:
            assert (got.shape, got.dtype) == (want.shape, want.dtype), i
            rtol, atol = _tolerance(entry, want)
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=f"output {i}")


def _wanted(entry: Entry) -> list[Any]:
    golden = _golden(entry)
    names = [name for name in golden if name.startswith("out") and name[3:].isdigit()]
    return [golden.get(f"out{i}") for i in range(len(names))]


def test_every_operator_has_a_translation_or_a_reason() -> None:
    known = {op.name for op in all_operators()}
    assert set(translators()) <= known
    assert set(REASONS) <= known
    assert not set(translators()) & set(REASONS)
    assert not [op for op in known - set(translators()) if reason_of(op) is None]


@pytest.mark.parametrize("op", ["_npi_svd", "sgd_update", "Custom"])
def test_reasons_say_what_to_do(op: str) -> None:
    assert any(word in str(reason_of(op)) for word in ("outside", "inference", "split"))
