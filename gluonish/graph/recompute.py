"""Recipes that compute forward values a second time.

A copy has the values of the original and no side effects: it draws no random numbers and updates no
statistics. So batch normalization is applied again with its statistics, and dropout with its mask.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from gluonish.graph.ir import Node, Value, append
from gluonish.ops.normalization.batch_norm_apply import BATCH_NORM_APPLY
from gluonish.ops.registry import Operator, find_operator

Key = tuple[int, int]

_MULTIPLY = find_operator("broadcast_mul")
_ADDITIONS = ("elemwise_add", "broadcast_add")

# Heavy per element for a small array; for a large array they cost about as much as reading it.
_PASSES_OVER_MEMORY = frozenset(
    {
        *("Pooling", "softmax", "log_softmax", "softmin"),
        *("LayerNorm", "GroupNorm", "InstanceNorm", "L2Normalization"),
    }
)


class Effort(IntEnum):
    """The effort for a copy."""

    NOTHING = 0  # reshapes of available values
    LITTLE = 1  # passes over memory, too
    ANYTHING = 2  # products, too


class Recipe(NamedTuple):
    """A way to compute one value again.

    Attributes:
        sources: The values that it reads.
        make: Returns the copy, given the sources or copies of them.
    """

    sources: tuple[Value, ...]
    make: Callable[[Sequence[Value]], Value]


def recipe_of(value: Value, effort: Effort, overwritten: Collection[Key] = ()) -> Recipe | None:
    """Return a recipe for a value; None if there is none, or it costs too much.

    Args:
        value: The value.
        effort: The most effort.
        overwritten: Keys of values that change, such as moving statistics.
    """
    op = value.node.op
    if op is None:
        return None
    special = _SPECIAL.get(op.name)
    found = None if special is None or effort < Effort.LITTLE else special(value)
    if found is None and _repeats(value.node, op, effort):
        found = _copy_recipe(value)
    if found is None or any(source.key in overwritten for source in found.sources):
        return None
    return found


def _repeats(node: Node, op: Operator, effort: Effort) -> bool:
    """Whether a node may run twice with this effort."""
    if op.draws(node.attrs) or op.mutated_inputs(node.attrs) or not node.inputs:
        return False
    if effort == Effort.NOTHING:
        return op.identity and op.single
    return effort == Effort.ANYTHING or not op.heavy or op.name in _PASSES_OVER_MEMORY


def _copy_recipe(value: Value) -> Recipe:
    node = value.node

    def make(inputs: Sequence[Value]) -> Value:
        copy = Node(node.op, node.name, inputs, node.attrs, node.specs, node.extra)
        return Value(copy, value.index)

    return Recipe(node.inputs, make)


def _batch_norm(value: Value) -> Recipe | None:
    return _normalized(value, relu=False, addend=None)


def _batch_norm_relu(value: Value) -> Recipe | None:
    return _normalized(value, relu=True, addend=None)


def _normalized(value: Value, *, relu: bool, addend: Value | None) -> Recipe | None:
    """Return the recipe of a batch normalization and a following sum and ReLU."""
    node = value.node
    if value.index:
        return None
    data, gamma, beta = node.inputs[:3]
    attrs = {
        "fix_gamma": node.attrs["fix_gamma"],
        "axis": node.attrs["axis"],
        "add": addend is not None,
        "relu": relu,
    }
    statistics = (Value(node, 1), Value(node, 2))
    sources = (data, gamma, beta, *statistics, *(() if addend is None else (addend,)))

    def make(inputs: Sequence[Value]) -> Value:
        made: Value = append(BATCH_NORM_APPLY, inputs, attrs)
        return made

    return Recipe(sources, make)


def _dropout(value: Value) -> Recipe | None:
    if value.index:
        return None

    def make(inputs: Sequence[Value]) -> Value:
        made: Value = append(_MULTIPLY, inputs, {})
        return made

    return Recipe((value.node.inputs[0], Value(value.node, 1)), make)


def _activation(value: Value) -> Recipe | None:
    """Return the recipe of a ReLU after a batch normalization, with or without a sum between."""
    if value.node.attrs.get("act_type", "relu") != "relu":
        return None
    return _relu_of(value.node.inputs[0])


def _relu_of(inner: Value) -> Recipe | None:
    if _is_batch_norm(inner):
        return _normalized(inner, relu=True, addend=None)
    node = inner.node
    if node.op is not None and node.op.name in _ADDITIONS:
        for value, other in (node.inputs, node.inputs[::-1]):
            if _is_batch_norm(value) and other.spec == value.spec:
                return _normalized(value, relu=True, addend=other)
    return None


def _is_batch_norm(value: Value) -> bool:
    op = value.node.op
    return op is not None and op.name == "BatchNorm" and value.index == 0


_Special = Callable[[Value], Recipe | None]

_SPECIAL: Mapping[str, _Special] = {
    "Activation": _activation,
    "BatchNorm": _batch_norm,
    "Dropout": _dropout,
    "_contrib_BatchNormWithReLU": _batch_norm_relu,
    "relu": _activation,
}
