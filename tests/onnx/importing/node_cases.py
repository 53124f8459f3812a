"""The cases of ONNX's own tests of operators, which ship in the package onnx, and how they end.

Run as a script it counts them: ``python -m tests.onnx.importing.node_cases``.
"""

import collections
import functools
import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx

from gluonish.core.context import cpu
from gluonish.core.errors import NotSupportedError
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.numpy import array
from gluonish.onnx.importing import import_to_gluon
from gluonish.onnx.importing.block import OnnxBlock
from gluonish.onnx.importing.elements import ELEMENTS
from gluonish.onnx.importing.models import load_model

_STRINGS = "arrays here hold numbers, no strings"
# Which cases are refused, by what their names begin with, and why.
REFUSED = {
    "test_ai_onnx_ml_label_encoder_": _STRINGS,
    "test_equal_string": _STRINGS,
    "test_regex_full_match_": _STRINGS,
    "test_string_": _STRINGS,
    "test_strnormalizer_": _STRINGS,
    "test_image_decoder_": "decoders of files give other low bits from library to library",
}
# Cases that draw random numbers: ONNX's expectation is one draw of NumPy's.
RANDOM = ("test_bernoulli", "test_training_dropout")
_RANDOM_BUT_EXACT = ("zero_ratio",)
_CARRIERS = {kind.stored: kind.dtype for kind in ELEMENTS.values() if kind.is_narrow}


@functools.cache
def cases() -> tuple[Any, ...]:
    """Return the cases, in the package's order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it computes expectations with overflow, too
        from onnx.backend.test.case.node import collect_testcases

        return tuple(collect_testcases(None))


def is_refused(case: Any) -> bool:
    """Whether the table says that a case is refused."""
    return case.name.startswith(tuple(REFUSED))


def is_random(case: Any) -> bool:
    """Whether a case's outputs are one of many draws."""
    exact = any(word in case.name for word in _RANDOM_BUT_EXACT)
    return case.name.startswith(RANDOM) and not exact


def run_case(case: Any, *, as_graph: bool) -> list[tuple[Sequence[Any], Sequence[Any]]]:
    """Import a case's model, run it on its data, and return expected and found outputs.

    Args:
        case: The case.
        as_graph: Whether to run what `import_to_gluon` makes of it, hybridized; else node by node.
    """
    data = case.model.SerializeToString()
    if as_graph:
        block: HybridBlock = import_to_gluon(data)
        block.hybridize()
    else:
        block = OnnxBlock(load_model(data, "import"))
        block.take_numbers(cpu())
    found: list[tuple[Sequence[Any], Sequence[Any]]] = []
    for inputs, outputs in case.data_sets:
        results = block(*[_given(x) for x in inputs])
        several = isinstance(results, list | tuple) and len(outputs) > 1
        found.append((list(outputs), results if several else [results]))
    return found


def _given(x: Any) -> Any:
    if x is None or isinstance(x, list | tuple):
        return None if x is None else [_given(item) for item in x]
    numbers = _numbers(x)
    carrier = _CARRIERS.get(numbers.dtype, numbers.dtype)
    return array(numbers.astype(carrier), dtype=carrier)


def _numbers(x: Any) -> np.ndarray[Any, Any]:
    found = onnx.numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x
    return np.asarray(found)


def mismatch(expected: Any, found: Any, case: Any) -> str | None:
    """Return what is wrong with an output, None if nothing is.

    The tolerance is the case's own, and one rounding of the largest number in the output's type:
    some expectations are zeros that NumPy's sums of float16 or float32 missed by as much.
    """
    if expected is None or isinstance(expected, list | tuple):
        if expected is None or found is None:
            return None if expected is found else f"{found} instead of {expected}"
        if len(expected) != len(found):
            return f"{len(found)} items instead of {len(expected)}"
        pairs = zip(expected, found, strict=True)
        return next((m for a, b in pairs if (m := mismatch(a, b, case))), None)
    wanted, got = _numbers(expected), found.asnumpy()
    carrier = _CARRIERS.get(wanted.dtype, wanted.dtype)
    if wanted.shape != got.shape or carrier != got.dtype:
        return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    if is_random(case):
        return None
    rounding = 0.0
    if got.dtype.kind not in "iub":
        rounding = float(ml_dtypes.finfo(got.dtype).eps)
        finite = np.abs(wanted.astype(np.float64))
        rounding *= float(finite[np.isfinite(finite)].max(initial=0))
    a, b = wanted.astype(np.float64), got.astype(np.float64)
    close = np.isclose(b, a, case.rtol, case.atol + rounding, equal_nan=True)
    return None if close.all() else f"{b[~close][:3]} instead of {a[~close][:3]}"


def ends(case: Any, *, as_graph: bool = False) -> tuple[str, str]:
    """Return how a case ends, ``passed``, ``refused`` or ``wrong``, and what there is to say."""
    try:
        pairs = run_case(case, as_graph=as_graph)
    except NotSupportedError as error:
        return "refused", str(error)
    except Exception as error:  # all others are wrong
        return "wrong", f"{type(error).__name__}: {error}"
    for expected, found in pairs:
        wrong = mismatch(expected, found, case)
        if wrong is not None:
            return "wrong", wrong
    return "passed", ""


def _main() -> None:
    warnings.simplefilter("ignore")
    for as_graph in (False, True):
        counts = collections.Counter[str]()
        for case in cases():
            end, why = ends(case, as_graph=as_graph)
            counts[end] += 1
            if end == "wrong" or (end == "refused") != is_refused(case):
                print(end, case.name, why[:200])  # noqa: T201  # it is a report
        way = "import_to_gluon, hybridized" if as_graph else "node by node"
        print(f"onnx {onnx.__version__}, {way}: {len(cases())} cases, {dict(counts)}")  # noqa: T201


if __name__ == "__main__":
    _main()
