"""Fully connected layer: y = x W^T + b, then possibly a sum and a function.

Its gradients are plain matrix products, so `gluonish.kernels.onednn.matmul` serves them: ``grad W``
for the data and ``grad^T x`` for the weight.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.kernels.onednn.api import Argument, PropagationKind
from gluonish.kernels.onednn.binding import bind, require
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.finish import add_finished, finish_of
from gluonish.kernels.onednn.matmul import matrix_view, plan_product
from gluonish.kernels.onednn.memory import element_strides
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import Attributes, Finish, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError

# Measured on two Zen 4 cores: up to so many rows, by the bytes of a number, the library's inner
# product on a plain weight is up to 4 times faster than its matrix product, from twice as many rows
# on it is slower. A weight packed for each call never pays; one packed once makes the matrix
# product 1.1 to 1.6 times as fast, but for a single row, where all is reading the weight.
_FEW_ROWS = {4: 8, 2: 2}
# A float32 result that no cache holds is written faster by the inner product, if it has many rows:
# 1120 of 10,000 units at 205 GFLOP/s instead of 192, 33,000 at 206 instead of 194. At 320 rows, and
# for 1120 of 2048, it is the slower one by 5 to 12 percent.
_MANY_ROWS, _LARGE_RESULT = 1000, 1 << 23


class _Form(NamedTuple):
    """What a plan depends on besides its arrays."""

    with_bias: bool
    finish: Finish
    packed: bool


def fully_connected(
    outputs: Sequence[Array], inputs: Sequence[Array], attrs: Mapping[str, Any]
) -> Bound:
    """Plan FullyConnected, or one that adds an array to its result and applies a function to it.

    Args:
        outputs: out (..., units).
        inputs: data (N, ...) or (..., in_units), weight (units, in_units); bias (units,) unless
            ``no_bias``; addend, of the shape of out and possibly its memory, under ``with_sum``.
        attrs: Those of FullyConnected, or of ``_fused_dense``.

    Raises:
        RefusedError: The library cannot take the arrays.
    """
    finish, operands = finish_of(outputs[0], inputs, attrs)
    given = (*outputs, *inputs)
    out, data, weight, *rest = (given[i] for i in operands)
    units, features = weight.shape
    if finish.addend == "beside":
        rest[-1] = matrix_view(rest[-1], (-1, units))
    out = matrix_view(out, (-1, units))
    if not (attrs["flatten"] and _is_picture(data) and weight.flags.c_contiguous):
        data = matrix_view(data, (-1, features))
        _check_rows(data)
    _check_rows(out, weight)
    arrays = (out, data, weight, *rest)
    require("fully_connected", *arrays)
    form = _Form(not attrs["no_bias"], finish, attrs.get("packed", False))
    return Bound(bind("fully_connected", _plan, arrays, form).plan, operands)


def _is_picture(data: Array) -> bool:
    """Whether data have axes that cannot be seen as one: their channels are last in memory."""
    return 3 <= data.ndim <= 5 and not data.flags.c_contiguous


def _check_rows(*arrays: Array) -> None:
    for array in arrays:
        if not (array.flags.c_contiguous or element_strides(array)[-1] == 1):
            raise RefusedError("fully_connected: expected contiguous rows, got rows with gaps")


def _plan(engine: Engine, arrays: tuple[Array, ...], form: _Form) -> Plan:
    out, data, weight, *rest = arrays
    few = len(data) == 1 if form.packed else len(data) <= _FEW_ROWS[data.itemsize]
    if few or data.ndim > 2 or (_is_large(out) and not form.packed):
        return _plan_inner_product(engine, arrays, form)
    if form.with_bias:
        rest[0] = rest[0].reshape(1, -1)
    return plan_product(engine, (out, data, weight.T, *rest), form.finish, packed=form.packed)


def _is_large(out: Array) -> bool:
    return out.itemsize == 4 and len(out) >= _MANY_ROWS and out.size >= _LARGE_RESULT


def _plan_inner_product(engine: Engine, arrays: tuple[Array, ...], form: _Form) -> Plan:
    out, data, weight, *rest = arrays
    weight = weight.reshape(len(weight), *data.shape[1:])
    source, target, weights = (engine.describe(array) for array in (data, out, weight))
    spatial = data.ndim > 2
    # A packed weight takes the order that data have in memory; for another they are reordered.
    wanted = engine.contiguous(data) if spatial and not form.packed else source
    liked = engine.undecided(weight) if spatial and form.packed else weights
    addend = rest.pop() if form.finish.addend == "beside" else None
    added = None if addend is None else engine.describe(addend)
    bias = engine.describe(rest[0]) if form.with_bias else None
    attributes = Attributes(engine.api, form.finish, added)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_inner_product_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_INFERENCE),
        *(wanted.handle, liked.handle, bias and bias.handle, target.handle, attributes.handle),
    )
    builder = Builder(engine)
    place = builder.operand(target)
    reads = {Argument.SRC: builder.operand(source), Argument.WEIGHTS: builder.operand(weights)}
    if bias is not None:
        reads[Argument.BIAS] = builder.operand(bias)
    if added is not None:
        reads[Argument.POST_OP_SRC] = builder.operand(added)
    add_finished(builder, descriptor, reads, place, form.finish)
    return builder.build()
