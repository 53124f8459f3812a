"""One graph for all extents that a file leaves open: from two traces, tried on a third.

A traced graph has the shapes of its trace in it where something asked for them. Two traces with
other extents differ in those places only, and most can be said without numbers: a reshape by codes,
a slice from its end. What cannot is refused, and what was made is held against a third trace.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from gluonish.core.errors import GluonishError, NotSupportedError
from gluonish.graph.inference import specialize
from gluonish.graph.ir import Node, Value, topological_order
from gluonish.ops.registry import Operator, find_operator
from gluonish.ops.support.shape_codes import resolve_shape

__all__ = ["check", "merged", "stand_ins"]

Pair = tuple[int, int]  # an extent in the one trace, and in the other
Shapes = Mapping[str, Sequence[Any]]

# Extents to trace with: small ones, and such that go through the halvings of networks on images.
_SCALES: tuple[Callable[[int], int], ...] = (lambda i: 3 + i, lambda i: 64 * (1 + i))


def stand_ins(shapes: Shapes) -> Iterator[list[dict[str, tuple[int, ...]]]]:
    """Give for each scale three sets of shapes, in which no open extent comes twice.

    Args:
        shapes: Shapes by input, with a name (or None) for an open extent.
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
    """Return one graph that is both of two traces.

    Raises:
        NotSupportedError: They differ in what cannot be said without numbers.
    """
    nodes = topological_order(first), topological_order(second)
    places = [{id(node): i for i, node in enumerate(side)} for side in nodes]
    if len(nodes[0]) != len(nodes[1]):
        raise NotSupportedError("ONNX: expected one graph for all open extents, got several")
    made: dict[int, Node] = {}
    for a, b in zip(*nodes, strict=True):
        read = [
            [(side[id(value.node)], value.index) for value in node.inputs]
            for side, node in zip(places, (a, b), strict=True)
        ]
        if a.op is not b.op or read[0] != read[1]:
            raise NotSupportedError("ONNX: expected one graph for all open extents, got several")
        if a.op is None:
            _check_same(a, b)
            made[id(a)] = a
            continue
        inputs = [Value(made[id(value.node)], value.index) for value in a.inputs]
        op, attrs = (a.op, a.attrs) if a.attrs == b.attrs else _said_openly(a.op, a, b)
        made[id(a)] = Node(op, a.name, inputs, attrs, (), a.extra)
    return [Value(made[id(value.node)], value.index) for value in first]


def _check_same(a: Node, b: Node) -> None:
    if a.array is None or b.array is None:
        same = a.array is b.array and a.name == b.name
    else:
        same = np.array_equal(a.array.asnumpy(), b.array.asnumpy(), equal_nan=a.array.dtype != bool)
    if not same:
        raise NotSupportedError(
            "ONNX: expected constants that do not depend on open extents, got one of shape "
            f"{a.specs[0].shape} and {b.specs[0].shape}"
        )


def _said_openly(op: Operator, a: Node, b: Node) -> tuple[Operator, Any]:
    """Return an operator that does what both do."""
    given = _pairs(a.inputs[0].shape, b.inputs[0].shape) if a.inputs else None
    wanted = _pairs(a.specs[0].shape, b.specs[0].shape)
    found: tuple[str, dict[str, Any]] | None = None
    if given is not None and wanted is not None:
        if op.name == "_np_reshape":
            found = _reshape(given, wanted)
        elif op.name == "slice":
            found = _slice(given, a.attrs, b.attrs)
        elif op.name == "_npi_broadcast_to":
            found = _broadcast(given, wanted)
    if found is None:
        raise NotSupportedError(
            f"ONNX: expected shapes that can be said for all open extents, got {op.name} to "
            f"{a.specs[0].shape} and {b.specs[0].shape}"
        )
    other = find_operator(found[0])
    return other, other.schema.parse(found[0], found[1])


def _pairs(a: Sequence[int], b: Sequence[int]) -> list[Pair] | None:
    return list(zip(a, b, strict=True)) if len(a) == len(b) else None


def _reshape(given: list[Pair], wanted: list[Pair]) -> tuple[str, dict[str, Any]] | None:
    """Return a reshape by codes: 0 keeps an extent, -3 joins two, -4 splits one, -1 is the rest."""
    simple = [a if a == b else -1 for a, b in wanted]
    for codes in (simple, _codes(given, wanted)):
        if codes.count(-1) <= 1 and _gives(codes, given, wanted):
            return "Reshape", {"shape": tuple(codes)}
    return None


def _gives(codes: Sequence[int], given: list[Pair], wanted: list[Pair]) -> bool:
    try:
        return all(
            resolve_shape(tuple(p[i] for p in given), tuple(codes)) == tuple(p[i] for p in wanted)
            for i in range(2)
        )
    except GluonishError:
        return False


def _codes(given: list[Pair], wanted: list[Pair]) -> list[int]:
    """Return codes that may be right; each but -3 goes on by one extent of what is given."""
    codes: list[int] = []
    i = j = 0
    while j < len(wanted):
        out, one = wanted[j], given[i] if i < len(given) else None
        after = given[i + 1] if i + 1 < len(given) else None
        following = wanted[j + 1] if j + 1 < len(wanted) else None
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
    """Return a slice whose ends are counted from where they are the same."""
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


def _broadcast(given: list[Pair], wanted: list[Pair]) -> tuple[str, dict[str, Any]] | None:
    """Return a broadcast in which 0 keeps an open extent."""
    if len(given) != len(wanted):
        return None
    if any(out[0] != out[1] and own != out for own, out in zip(given, wanted, strict=True)):
        return None
    return "broadcast_to", {"shape": tuple(a if a == b else 0 for a, b in wanted)}


def check(outputs: Sequence[Value], trace: Sequence[Value]) -> None:
    """Hold a graph against a trace with other extents.

    Raises:
        NotSupportedError: It gives other shapes.
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
