"""What an exported file computes, by the reference evaluator of the package onnx."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

import gluonish as mx

Array = np.ndarray[Any, Any]

# Earlier evaluators give NaN for rows without keys, and no earlier schema has windows.
_JUDGES_ATTENTION = tuple(map(int, onnx.__version__.split(".")[:2])) >= (1, 23)
# Opsets with an operator for attention; none where the installed onnx cannot judge it.
ATTENTION_OPSETS = [23, 25] if _JUDGES_ATTENTION else []


def evaluated(path: str | Path, arrays: Sequence[Array]) -> list[Array]:
    """Return the outputs of a file for its inputs in order."""
    return _run(ReferenceEvaluator(str(path)), arrays)


def _run(session: ReferenceEvaluator, arrays: Sequence[Array]) -> list[Array]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of infinities and the like
        outputs = session.run(None, dict(zip(session.input_names, arrays, strict=True)))
    return [np.asarray(y) for y in outputs]


def exported(
    path: Path, sym: Any, params: Any, arrays: Sequence[Array], **options: Any
) -> list[Array]:
    """Export a Symbol for its inputs in order, and return what the file computes for them."""
    shapes, types = [x.shape for x in arrays], [x.dtype for x in arrays]
    with mx.util.np_shape(any(x.size == 0 for x in arrays)):
        file = mx.onnx.export_model(sym, params, shapes, types or np.float32, str(path), **options)
    session = ReferenceEvaluator(file)
    named = dict(zip(sym.list_inputs(), arrays, strict=True))
    return _run(session, [named[name] for name in session.input_names])
