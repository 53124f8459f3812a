"""Matrix products, single and batched."""

from collections.abc import Mapping, Sequence
from typing import Any

from gluonish.kernels.onednn.api import Argument
from gluonish.kernels.onednn.binding import add_with_post_ops, bind, require
from gluonish.kernels.onednn.engine import Engine
from gluonish.kernels.onednn.memory import element_strides
from gluonish.kernels.onednn.plan import Builder, Plan
from gluonish.kernels.onednn.primitive import Attributes, PostOps, PrimitiveDescriptor
from gluonish.ops.kernel import Array, Bound, RefusedError, address

Arrays = Sequence[Array]
Attrs = Mapping[str, Any]


def dot(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan ``dot``: the sum of products over one axis of each array.

    Args:
        inputs: lhs and rhs; arrays of more than 2 axes must be contiguous.
        attrs: ``transpose_a`` sums over the first axis of lhs, ``transpose_b`` over the last of
            rhs.

    Raises:
        RefusedError: The library does not support the arrays.
    """
    lhs, rhs = inputs
    left = _matrix(lhs, inner_first=attrs["transpose_a"])
    right = _matrix(rhs, inner_first=not attrs["transpose_b"])
    a = left.T if attrs["transpose_a"] else left
    b = right.T if attrs["transpose_b"] else right
    out = matrix_view(outputs[0], (a.shape[0], b.shape[1]))
    return _bind("dot", out, a, b)


def batch_dot(outputs: Arrays, inputs: Arrays, attrs: Attrs) -> Bound:
    """Plan ``batch_dot``: the products of stacked matrices.

    Args:
        outputs: out (..., M, N), of 3 to 12 axes.
        inputs: lhs (..., M, K) and rhs (..., K, N); ``transpose_a`` and ``transpose_b`` first swap
            their last two axes.

    Raises:
        RefusedError: The library does not support the arrays.
    """
    a, b = inputs
    a = a.swapaxes(-1, -2) if attrs["transpose_a"] else a
    b = b.swapaxes(-1, -2) if attrs["transpose_b"] else b
    return _bind("batch_dot", outputs[0], a, b)


def plan_product(
    engine: Engine, arrays: Sequence[Array], post_ops: PostOps, *, packed: bool
) -> Plan:
    """Plan ``out = a b + bias`` with post-ops.

    Args:
        arrays: The operands: out, a, b; a bias that broadcasts, if there is one; then the addend,
            if it is separate.
        packed: Whether to reorder b, which pays only if it is done once for many calls.
    """
    out, a, b, *rest = arrays
    addend = rest.pop() if post_ops.addend == "separate" else None
    target, left, right = engine.describe(out), engine.describe(a), engine.describe(b)
    bias = engine.describe(rest[0]) if rest else None
    added = None if addend is None else engine.describe(addend)
    attributes = Attributes(engine.api, post_ops, added)
    weights = engine.undecided(b) if packed else right
    descriptor = PrimitiveDescriptor(
        engine.api,
        "dnnl_matmul_primitive_desc_create",
        *(engine.handle, left.handle, weights.handle, bias and bias.handle, target.handle),
        attributes.handle,
    )
    builder = Builder(engine)
    out_slot = builder.operand(target)
    reads = {Argument.SRC: builder.operand(left), Argument.WEIGHTS: builder.operand(right)}
    if bias is not None:
        reads[Argument.BIAS] = builder.operand(bias)
    if added is not None:
        reads[Argument.POST_OP_SRC] = builder.operand(added)
    add_with_post_ops(builder, descriptor, reads, out_slot, post_ops)
    return builder.build()


def matrix_view(array: Array, shape: tuple[int, ...]) -> Array:
    """Return a view of an array in another shape.

    Raises:
        RefusedError: The array's strides do not allow a view.
    """
    view = array.reshape(shape)
    if address(view) != address(array):
        raise RefusedError(
            f"dot: expected an array that can be viewed as {shape}, got {array.shape} with strides "
            f"{array.strides}"
        )
    return view


def _matrix(array: Array, *, inner_first: bool) -> Array:
    """View an array as a matrix whose first or last axis is the reduced one."""
    if array.ndim == 2:
        return array
    inner = array.shape[0 if inner_first else -1]
    return matrix_view(array, (inner, -1) if inner_first else (-1, inner))


def _bind(name: str, out: Array, a: Array, b: Array) -> Bound:
    require(name, a, b)
    require(name, out)
    if not (_row_major(out) and _has_unit_axis(a) and _has_unit_axis(b)):
        raise RefusedError(f"{name}: expected matrices with a contiguous axis, got none")
    return bind(name, _plan, (out, a, b))


def _plan(engine: Engine, arrays: tuple[Array, ...], attributes: object) -> Plan:
    return plan_product(engine, arrays, PostOps(), packed=False)


def _row_major(array: Array) -> bool:
    return array.flags.c_contiguous or element_strides(array)[-1] == 1


def _has_unit_axis(array: Array) -> bool:
    return array.flags.c_contiguous or 1 in element_strides(array)[-2:]
