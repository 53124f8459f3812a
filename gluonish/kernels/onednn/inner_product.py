"""Fully connected layer: y = x W^T + b, then possibly a sum and an activation.

Its gradients are matrix products, in `gluonish.kernels.onednn.matmul`: ``grad W`` for the data and
``grad^T x`` for the weight.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gluonish.kernels.onednn.api import Argument, PropagationKind
from gluonish.kernels.onednn.binding import add_with_post_ops, bind, post_ops_of, require
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.matmul import matrix_view, plan_product
from gluonish.kernels.onednn.memory import element_strides
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import Attributes, PostOps, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError

# Number of rows, by itemsize, up to which the library's inner product on an unpacked weight is up
# to 4 times faster than its matrix product; from twice as many rows it is slower (two Zen 4 cores).
# Packing a weight for each call never pays. Packed once, it makes the matrix product 1.1 to 1.6
# times as fast, except for a single row, where reading the weight takes all the time.
_FEW_ROWS = {4: 8, 2: 2}
# The inner product is faster for a float32 result beyond the caches, with many rows: 1120 of 10,000
# units at 205 GFLOP/s instead of 192, 33,000 at 206 instead of 194. At 320 rows, and for 1120 of
# 2048, it is slower by 5 to 12 percent.
_MANY_ROWS, _LARGE_RESULT = 1000, 1 << 23


class _Form(NamedTuple):
    """What a plan depends on besides its arrays; part of the cache key."""

    with_bias: bool
    post_ops: PostOps
    packed: bool


def fully_connected(
    outputs: Sequence[Array], inputs: Sequence[Array], attrs: Mapping[str, Any]
) -> Bound:
    """Plan FullyConnected, with ``_fused_dense``'s sum and activation.

    Args:
        outputs: out (..., units).
        inputs: data (N, ...) or (..., in_units), weight (units, in_units); bias (units,) unless
            ``no_bias``; addend, of the shape of out and possibly its memory, under ``with_sum``.
        attrs: The attributes of FullyConnected, or of ``_fused_dense``.

    Raises:
        RefusedError: The library does not support the arrays.
    """
    post_ops, operands = post_ops_of(outputs[0], inputs, attrs)
    every = (*outputs, *inputs)
    out, data, weight, *rest = (every[i] for i in operands)
    units, features = weight.shape
    if post_ops.addend == "separate":
        rest[-1] = matrix_view(rest[-1], (-1, units))
    out = matrix_view(out, (-1, units))
    if not (attrs["flatten"] and _is_channels_last(data) and weight.flags.c_contiguous):
        data = matrix_view(data, (-1, features))
        _check_rows(data)
    _check_rows(out, weight)
    arrays = (out, data, weight, *rest)
    require("fully_connected", *arrays)
    form = _Form(not attrs["no_bias"], post_ops, attrs.get("packed", False))
    return Bound(bind("fully_connected", _plan, arrays, form).plan, operands)


def _is_channels_last(data: Array) -> bool:
    """Whether the data are channels last, so that their axes cannot be merged."""
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
    return plan_product(engine, (out, data, weight.T, *rest), form.post_ops, packed=form.packed)


def _is_large(out: Array) -> bool:
    return out.itemsize == 4 and len(out) >= _MANY_ROWS and out.size >= _LARGE_RESULT


def _plan_inner_product(engine: Engine, arrays: tuple[Array, ...], form: _Form) -> Plan:
    out, data, weight, *rest = arrays
    weight = weight.reshape(len(weight), *data.shape[1:])
    source, target, weights = (engine.describe(array) for array in (data, out, weight))
    spatial = data.ndim > 2
    # A packed weight follows the memory order of the data; without one the data are reordered.
    data_layout = engine.contiguous(data) if spatial and not form.packed else source
    weight_layout = engine.undecided(weight) if spatial and form.packed else weights
    addend = rest.pop() if form.post_ops.addend == "separate" else None
    added = None if addend is None else engine.describe(addend)
    bias = engine.describe(rest[0]) if form.with_bias else None
    attributes = Attributes(engine.api, form.post_ops, added)
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_inner_product_forward_primitive_desc_create",
        *(engine.handle, PropagationKind.FORWARD_INFERENCE),
        *(data_layout.handle, weight_layout.handle, bias and bias.handle, target.handle),
        attributes.handle,
    )
    builder = Builder(engine)
    out_slot = builder.operand(target)
    reads = {Argument.SRC: builder.operand(source), Argument.WEIGHTS: builder.operand(weights)}
    if bias is not None:
        reads[Argument.BIAS] = builder.operand(bias)
    if added is not None:
        reads[Argument.POST_OP_SRC] = builder.operand(added)
    add_with_post_ops(builder, descriptor, reads, out_slot, form.post_ops)
    return builder.build()
