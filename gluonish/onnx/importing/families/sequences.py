"""Sequences of arrays, as Python lists, and optional values, as None."""

from typing import Any

import gluonish.numpy as mnp
from gluonish.core.dtype import BOOL, INT64
from gluonish.onnx.importing.arrays import array_of, axis_of, filled, integer, integers, plain
from gluonish.onnx.importing.elements import narrowed
from gluonish.onnx.importing.families.shapes import chunks
from gluonish.onnx.importing.nodes import Call, Rule

_MOST_PARTS = 1 << 16  # largest number of pieces that a sequence is split into


def _construct(call: Call, *items: Any) -> list[Any]:
    return list(items)


def _empty(call: Call) -> list[Any]:
    return []


def _place(call: Call, position: Any, count: int) -> int:
    index = integer(position)
    if not -count <= index < max(count, 1):
        call.wrong(f"expected a position in a sequence of {count}, got {index}")
    return index


def _insert(call: Call, sequence: list[Any], item: Any, position: Any = None) -> list[Any]:
    found = list(sequence)
    if position is None:
        return [*found, item]
    index = integer(position)
    if not -len(found) <= index <= len(found):
        call.wrong(f"expected a position in a sequence of {len(found)}, got {index}")
    found.insert(index, item)
    return found


def _erase(call: Call, sequence: list[Any], position: Any = None) -> list[Any]:
    found = list(sequence)
    del found[-1 if position is None else _place(call, position, len(found))]
    return found


def _at(call: Call, sequence: list[Any], position: Any) -> Any:
    return sequence[_place(call, position, len(sequence))]


def _length(call: Call, sequence: list[Any]) -> Any:
    return array_of(len(sequence), INT64)


def _concat(call: Call, sequence: list[Any]) -> Any:
    arrays = [plain(item) for item in sequence]
    axis = call.attr("axis")
    found = (
        mnp.stack(arrays, axis=axis)
        if call.attr("new_axis", 0)
        else mnp.concatenate(arrays, axis=axis)
    )
    kind = getattr(sequence[0], "element", None)
    return found if kind is None else narrowed(found, kind)


def _split(call: Call, x: Any, sizes: Any = None) -> list[Any]:
    axis = axis_of(call.attr("axis", 0), len(x.shape))
    extent = x.shape[axis]
    if sizes is None:
        _check_count(call, extent)
        each = chunks(x, axis, [1] * extent)
        return each if call.attr("keepdims", 1) else [mnp.squeeze(p, axis=axis) for p in each]
    given = integers(sizes)
    if not sizes.shape:
        step = given[0]
        if step < 1:
            call.wrong(f"expected parts of at least 1, got {step}")
        _check_count(call, extent // step)
        given = [min(step, extent - i) for i in range(0, extent, step)]
    if sum(given) != extent or any(size < 0 for size in given):
        call.wrong(f"expected parts that make up {extent}, got {given}")
    return chunks(x, axis, given)


def _check_count(call: Call, count: int) -> None:
    if count > _MOST_PARTS:
        call.refuse(f"expected at most {_MOST_PARTS} chunks, got {count}")


def _optional(call: Call, value: Any = None) -> Any:
    return value


def _has_element(call: Call, value: Any = None) -> Any:
    return filled((), value is not None, BOOL)


def _get_element(call: Call, value: Any = None) -> Any:
    if value is None:
        call.wrong("expected a value, got an optional one without")
    return value


RULES: dict[str, Rule] = {
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceInsert": _insert,
    "SequenceErase": _erase,
    "SequenceAt": _at,
    "SequenceLength": _length,
    "ConcatFromSequence": _concat,
    "SplitToSequence": _split,
    "Optional": _optional,
    "OptionalHasElement": _has_element,
    "OptionalGetElement": _get_element,
}
