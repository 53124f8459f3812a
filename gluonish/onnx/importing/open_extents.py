"""Makes one graph for all sizes of dynamic axes: merged from two traces, and checked with a third.

A traced graph contains constants that were computed from the shapes of its trace. Two traces with
different sizes differ only in these, and most can be expressed without numbers: a reshape by codes,
a slice counted from the end. Other differences are not supported.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from gluonish.core.errors import GluonishError, NotSupportedError
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ops.registry import find_operator
from gluonish.ops.support.shape_codes import resolve_shape

Pair = tuple[int, int]  # a size in the first trace, and in the second
Shapes = Mapping[str, Sequence[Any]]
_Known = list[tuple[Value, list[Pair]]]  # inputs, and their sizes in both traces

# Sizes to trace with: small ones, ones that networks on images can halve several times, and ones
# that are long enough for windows of audio.
_SCALES: tuple[Callable[[int], int], ...] = (
    lambda i: 3 + i,
    lambda i: 64 * (1 + i),
    lambda i: 512 + 64 * i,
)


def stand_ins(shapes: Shapes) -> Iterator[list[dict[str, tuple[int, ...]]]]:
    """Yield three sets of shapes for each scale, with distinct sizes for dynamic axes.

    Args:
        shapes: Shapes by input, with a name (or None) for the size of a dynamic axis.
    """
    for scale in _SCALES:
        numbers = map(scale, count())
        yield [_filled(shapes, numbers) for _ in range(3)]


def _filled(shapes: Shapes, numbers: Iterator[int]) -> dict[str, tuple[int, ...]]:
    known: dict[Any, int] = {}

    def extent(name: str, axis: int, given: Any) -> int:
        if isinstance(given, int):
            return given
        key = given or (name, axis)
        if key not in known:
            known[key] = next(numbers)
        return known[key]

    return {
        name: tuple(extent(name, axis, given) for axis, given in enumerate(shape))
        for name, shape in shapes.items()
    }


def merged(first: Sequence[Value], second: Sequence[Value]) -> list[Value]:
    """Merge two traces into one graph that is valid for the sizes of both.

    Raises:
        NotSupportedError: A difference cannot be expressed without numbers.
    """
    nodes = topological_order(first), topological_order(second)
    indices = [{id(node): i for i, node in enumerate(side)} for side in nodes]
    if len(nodes[0]) != len(nodes[1]):
        raise NotSupportedError("ONNX: expected one graph for all open extents, got several")
    made: dict[tuple[int, int], Value] = {}
    known = [
        (Value(a), _pairs(a.specs[0].shape, b.specs[0].shape) or []) for a, b in _inputs(*nodes)
    ]
    for a, b in zip(*nodes, strict=True):
        read = [
            [(side[id(value.node)], value.index) for value in node.inputs]
            for side, node in zip(indices, (a, b), strict=True)
        ]
        if a.op is not b.op or read[0] != read[1]:
            raise NotSupportedError("ONNX: expected one graph for all open extents, got several")
        if a.op is None:
            made[id(a), 0] = _same_input(a, b, known)
            continue
        inputs = [made[value.key] for value in a.inputs]
        if a.attrs == b.attrs:
            node = Node(a.op, a.name, inputs, a.attrs, (), a.extra)
            made.update({(id(a), i): Value(node, i) for i in range(node.num_outputs)})
        else:
            made[id(a), 0] = _said_openly(a, b, inputs, known)
    return [made[value.key] for value in first]


def _inputs(first: Sequence[Node], second: Sequence[Node]) -> list[tuple[Node, Node]]:
    pairs = zip(first, second, strict=True)
    return [(a, b) for a, b in pairs if a.op is None and a.array is None and b.specs]


def _same_input(a: Node, b: Node, known: _Known) -> Value:
    """Return a variable or constant of both traces; constants of one number may have any shape."""
    if a.array is None or b.array is None:
        if a.array is b.array and a.name == b.name:
            return Value(a)
        raise NotSupportedError("ONNX: expected one graph for all open extents, got several")
    numbers = a.array.asnumpy(), b.array.asnumpy()
    if np.array_equal(*numbers, equal_nan=numbers[0].dtype != bool):
        return Value(a)
    target = _pairs(a.array.shape, b.array.shape)
    if target is not None and len({*numbers[0].flat, *numbers[1].flat}) == 1:
        shape = tuple(x if x == y else 1 for x, y in target)
        small = a.array.reshape(-1)[:1].broadcast_to(shape)
        found = _stretched(
            Value(Node(None, a.name, specs=(small._spec,), array=small)), target, known
        )
        if found is not None:
            return found
    raise NotSupportedError(
        "ONNX: expected constants that do not depend on open extents, got one of shape "
        f"{a.specs[0].shape} and {b.specs[0].shape}"
    )


def _said_openly(a: Node, b: Node, inputs: list[Value], known: _Known) -> Value:
    """Merge two nodes whose attributes depend on sizes, and return the output."""
    assert a.op is not None  # variables have no attributes, so that they do not differ
    given = _pairs(a.inputs[0].shape, b.inputs[0].shape) if a.inputs else None
    target = _pairs(a.specs[0].shape, b.specs[0].shape)
    found = None
    if given is not None and target is not None:
        if a.op.name == "_np_reshape":
            found = _reshape(given, target)
        elif a.op.name == "slice":
            found = _slice(given, a.attrs, b.attrs)
        elif a.op.name == "_npi_broadcast_to":
            stretched = _broadcast(a.name, inputs[0], given, target, known)
            if stretched is not None:
                return stretched
    if found is None:
        raise NotSupportedError(
            f"ONNX: expected shapes that can be said for all open extents, got {a.op.name} to "
            f"{a.specs[0].shape} and {b.specs[0].shape}"
        )
    return _applied(found[0], a.name, inputs, found[1])


def _applied(name: str, node_name: str, inputs: list[Value], attrs: dict[str, Any]) -> Value:
    op = find_operator(name)
    return Value(Node(op, node_name, inputs, op.schema.parse(name, attrs)))


def _stretched(x: Value, target: list[Pair], known: _Known) -> Value | None:
    """Broadcast along dynamic axes to sizes of inputs; return None if no input has a size."""
    for axis, pair in enumerate(target):
        if pair[0] == pair[1]:
            continue
        like = next(((v, p.index(pair)) for v, p in known if pair in p), None)
        if like is None:
            return None
        attrs = {"lhs_axes": (axis,), "rhs_axes": (like[1],)}
        x = _applied("broadcast_like", f"{x.node.name}_like{axis}", [x, like[0]], attrs)
    return x


def _pairs(a: Sequence[int], b: Sequence[int]) -> list[Pair] | None:
    return list(zip(a, b, strict=True)) if len(a) == len(b) else None


def _reshape(given: list[Pair], target: list[Pair]) -> tuple[str, dict[str, Any]] | None:
    """Return a reshape by codes: 0 copies a size, -3 merges two, -4 splits one, -1 is inferred."""
    simple = [a if a == b else -1 for a, b in target]
    for codes in (simple, _codes(given, target)):
        if codes.count(-1) <= 1 and _gives(codes, given, target):
            return "Reshape", {"shape": tuple(codes)}
    return None


def _gives(codes: Sequence[int], given: list[Pair], target: list[Pair]) -> bool:
    try:
        return all(
            resolve_shape(tuple(p[i] for p in given), tuple(codes)) == tuple(p[i] for p in target)
            for i in range(2)
        )
    except GluonishError:
        return False


def _codes(given: list[Pair], target: list[Pair]) -> list[int]:
    """Return candidate codes; each code except -3, which merges two, uses one size of the input."""
    codes: list[int] = []
    i = j = 0
    while j < len(target):
        out, one = target[j], given[i] if i < len(given) else None
        after = given[i + 1] if i + 1 < len(given) else None
        following = target[j + 1] if j + 1 < len(target) else None
        if one == out:
            codes.append(0)
        elif one and after and _times(one, after) == out:
            codes.append(-3)
            i += 1
        elif one and following and _times(out, following) == one:
            codes += [-4, *(a if a == b else -1 for a, b in (out, following))]
            j += 1
        else:
            codes.append(out[0] if out[0] == out[1] else -1)
        i, j = i + 1, j + 1
    return codes


def _times(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0], a[1] * b[1]


def _slice(given: list[Pair], a: Any, b: Any) -> tuple[str, dict[str, Any]] | None:
    """Return a slice with each end counted from the front or the back, where both traces agree."""
    ends: dict[str, list[int | None]] = {"begin": [], "end": []}
    for name, found in ends.items():
        for extent, x, y in zip(given, a[name], b[name], strict=False):
            if x == y:
                found.append(x)
            elif x is None or y is None or x - extent[0] != y - extent[1]:
                return None
            else:
                found.append(x - extent[0] or None)
    return "slice", {**ends, "step": a["step"]}


def _broadcast(
    name: str, x: Value, given: list[Pair], target: list[Pair], known: _Known
) -> Value | None:
    """Broadcast along dynamic axes to the sizes of inputs, and then along the other axes."""
    missing = len(target) - len(given)
    if missing:
        if any(a != b for a, b in given):
            return None
        given = [(1, 1)] * missing + given
        x = _applied("Reshape", f"{name}_axes", [x], {"shape": tuple(a for a, _ in given)})
    open_axes = [
        out if out[0] != out[1] and own != out else (1, 1)
        for own, out in zip(given, target, strict=True)
    ]
    if open_axes != [(1, 1)] * len(target):
        stretched = _stretched(x, open_axes, known)
        if stretched is None:
            return None
        x = stretched
    shape = tuple(a if a == b else 0 for a, b in target)
    return _applied("broadcast_to", name, [x], {"shape": shape})


def check(outputs: Sequence[Value], trace: Sequence[Value]) -> None:
    """Compare the output shapes of a graph with those of a trace with other sizes.

    Raises:
        NotSupportedError: The shapes differ.
    """
    variables = {n.name: n for n in topological_order(trace) if n.op is None and n.array is None}
    inputs = [n for n in topological_order(outputs) if n.op is None and n.array is None]
    specs = [variables[node.name].specs[0] for node in inputs]
    found = specialize(inputs, outputs, specs, train=False).outputs
    if [value.spec for value in found] != [value.spec for value in trace]:
        raise NotSupportedError(
            "ONNX: expected one graph for all open extents, got "
            f"{[x.shape for x in found]} in place of {[x.shape for x in trace]}"
        )
