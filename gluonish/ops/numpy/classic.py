"""Table of classic operators that are equivalent to NumPy operators for certain inputs.

Kernels and graph passes support the classic operators. Where both have the same semantics (equal
dtypes, and shapes that both read alike), the classic operator may run instead.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Spec
from gluonish.ops.elementwise import binary
from gluonish.ops.elementwise.constant_like import ONES_LIKE, ZEROS_LIKE
from gluonish.ops.indexing.where import WHERE
from gluonish.ops.linalg.matmul import BATCH_DOT, DOT
from gluonish.ops.numpy.axes_order import moved_order
from gluonish.ops.numpy.unary import SHARED
from gluonish.ops.reductions.reduction import MAX, MEAN, MIN, PROD, SUM
from gluonish.ops.registry import Attrs, Operator, find_operator
from gluonish.ops.shape.broadcast_to import BROADCAST_TO
from gluonish.ops.shape.concat import CONCAT, STACK
from gluonish.ops.shape.transpose import TRANSPOSE

Form = tuple[Operator, Attrs]
# (inputs, output, attributes of the NumPy operator) -> attributes of the classic one, or None
Reading = Callable[[Sequence[Spec], Spec, Attrs], dict[str, Any] | None]


def _identical(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    return dict(attrs)


def _reduced(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    if attrs["axis"] == ():  # the classic operator would reduce all axes
        return None
    return {"axis": attrs["axis"], "keepdims": attrs["keepdims"], "exclude": False}


def _averaged(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    # As in MXNet, the mean of no elements is NaN in mx.nd, and 0 in mx.np.
    return _reduced(inputs, out, attrs) if inputs[0].size else None


def _shaped(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    return {"shape": out.shape}


def _transposed(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    return {"axes": attrs["axes"] or ()}


def _moved(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    return {"axes": moved_order(len(out.shape), attrs["source"], attrs["destination"])}


def _joined(inputs: Sequence[Spec], axis: int | None, least: int) -> dict[str, Any] | None:
    """Return the attributes of Concat; None for arrays of fewer than ``least`` axes."""
    rank = len(inputs[0].shape)
    if axis is None or rank < least:
        return None
    return {"num_args": len(inputs), "dim": axis % rank}


def _concatenated(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    return _joined(inputs, attrs["axis"] if attrs["dim"] is None else attrs["dim"], 1)


def _hstacked(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    return _joined(inputs, min(1, len(inputs[0].shape) - 1), 1)


def _along(axis: int, least: int) -> Reading:
    return lambda inputs, out, attrs: _joined(inputs, axis, least)


def _selected(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    # In the classic operator, a condition of one axis selects rows of a matrix.
    return {} if all(spec.shape == out.shape for spec in inputs) else None


def _multiplied(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    """Return dot's attributes for ranks where it is equal to np.dot and np.matmul; else None."""
    a, b = (len(spec.shape) for spec in inputs)
    return _PLAIN_DOT if a >= 1 and b in (1, 2) else None


def _contracted(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    return _PLAIN_DOT if attrs["axes"] == 1 else None


def _batched(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
    return _PLAIN_DOT if all(len(spec.shape) == 3 for spec in inputs) else None


def _filled(number: float) -> Reading:
    def reading(inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> dict[str, Any] | None:
        return {} if attrs["fill_value"] == number and out == inputs[0] else None

    return reading


_PLAIN_DOT: dict[str, Any] = {"transpose_a": False, "transpose_b": False, "forward_stype": None}
_COPY, _RESHAPE = find_operator("_copy"), find_operator("_reshape_exact")

Row = tuple[tuple[Operator, Reading], ...]


def _rows() -> dict[str, Row]:
    found: dict[str, Row] = {
        names.split()[0]: ((base.operator, _identical),) for names, base in SHARED.items()
    }
    pairs = {
        "_npi_add": binary.ADD,
        "_npi_subtract": binary.SUBTRACT,
        "_npi_multiply": binary.MULTIPLY,
        "_npi_true_divide": binary.DIVIDE,
        "_npi_mod": binary.MODULO,
        "_npi_power": binary.POWER,
        "_npi_hypot": binary.HYPOT,
    }
    for name, row in pairs.items():
        found[name] = ((row.broadcast, _identical),)
        found[f"{name}_scalar"] = ((row.scalar, _identical),)
        if row.rscalar is not row.scalar:
            reverse = f"_npi_r{name.removeprefix('_npi_')}_scalar"
            found[reverse] = ((row.rscalar, _identical),)
    for name, row in (("maximum", binary.MAXIMUM), ("minimum", binary.MINIMUM)):
        found[f"_npi_{name}_scalar"] = ((row.scalar, _identical),)
    return found


_TABLE: Mapping[str, Row] = {
    **_rows(),
    "_np_copy": ((_COPY, _identical),),
    "_np_reshape": ((_RESHAPE, _shaped),),
    "_npx_reshape": ((_RESHAPE, _shaped),),
    "_np_squeeze": ((_RESHAPE, _shaped),),
    "_npi_broadcast_to": ((BROADCAST_TO, _shaped),),
    "_np_transpose": ((TRANSPOSE, _transposed),),
    "_np_moveaxis": ((TRANSPOSE, _moved),),
    "_np_sum": ((SUM, _reduced),),
    "_np_prod": ((PROD, _reduced),),
    "_np_max": ((MAX, _reduced),),
    "_np_min": ((MIN, _reduced),),
    "_npi_mean": ((MEAN, _averaged),),
    "_npi_concatenate": ((CONCAT, _concatenated),),
    "_npi_vstack": ((CONCAT, _along(0, 2)),),
    "_npi_hstack": ((CONCAT, _hstacked),),
    "_npi_dstack": ((CONCAT, _along(2, 3)),),
    "_npi_column_stack": ((CONCAT, _along(1, 2)),),
    "_npi_stack": ((STACK, _identical),),
    "_npi_where": ((WHERE, _selected),),
    "_np_dot": ((DOT, _multiplied),),
    "_npi_matmul": ((DOT, _multiplied), (BATCH_DOT, _batched)),
    "_npi_tensordot_int_axes": ((DOT, _contracted),),
    "_npi_full_like": ((ZEROS_LIKE, _filled(0.0)), (ONES_LIKE, _filled(1.0))),
}


def classic_operators() -> Mapping[str, Sequence[Operator]]:
    """Return the names of NumPy operators, with the classic operators that may run instead."""
    return {name: tuple(op for op, _ in row) for name, row in _TABLE.items()}


def classic_form(op: Operator, inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> Form | None:
    """Return the equivalent classic operator and its attributes; None if there is none.

    Its output has the dtype and elements of ``out``, but may have one axis where ``out`` has none.
    """
    for classic, reading in _TABLE.get(op.name, ()):
        known = reading(inputs, out, attrs)
        if known is not None and _is_valid(classic, inputs, out, known):
            return classic, known
    return None


def _is_valid(classic: Operator, inputs: Sequence[Spec], out: Spec, attrs: Attrs) -> bool:
    """Whether the classic operator accepts these inputs and returns this output."""
    try:
        (found,) = classic.infer(*inputs, **attrs)
    except OperatorError:
        return False
    return found.dtype == out.dtype and found.shape in (out.shape, out.shape or (1,))
