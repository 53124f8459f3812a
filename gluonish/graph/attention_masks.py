"""What hides keys in written-out attention, and the inputs of ``_attention`` that hide the same.

Softmax is preceded by a mask added to the scores, by ``where`` with a large negative number, or by
SequenceMask; or it has lengths. `Collected` gathers these, and `Collected.build` makes one mask or
lengths of them. Scores are seen as (N, heads, T, S) there; each mask has an extent of 1 along axes
where it is the same.

A row of scores that are all hidden has equal weights if the large number stands in place of scores,
or swallows their digits; weights by its scores if it is added and does not; and weights of 0 where
softmax has lengths or its result is multiplied by the mask.
cuDNN loses all digits there, so that no such row is given to it: its keys are shown, and its query,
or its output, is multiplied by 0. Its query then gets no gradient, and gives none to keys; those of
an added mask would get what is left of the rounded scores. Where hidden scores are minus infinity,
such a row is NaN, and so are all gradients that it is part of.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.dtype import BOOL, FLOAT16, FLOAT32, INT32, is_floating
from gluonish.core.spec import Shape, Spec
from gluonish.graph.broadcasts import Constants, Spread, reshaped, spread, uniform
from gluonish.graph.ir import Node, Value
from gluonish.ops.attention.scaled_dot_product import MASKED
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.constant_like import zeros_like
from gluonish.ops.registry import apply, find_operator

FAR = -8000.0  # what hides a key adds no more than this
_MOST = 65504.0  # of float16
_SWALLOWS = -1e8  # float32 holds no score beside this, and 16 bits hold none beside FAR

_WHERE = find_operator("_npi_where")
_MAX = find_operator("max")
_NOT = find_operator("logical_not")
_ARANGE = find_operator("_arange")
_STACK = find_operator("stack")
_BROADCAST = find_operator("broadcast_to")
_CEIL = find_operator("ceil")
_CLIP = find_operator("clip")
_ADD = find_operator("broadcast_add")
_SUBTRACT = find_operator("broadcast_sub")
_MULTIPLY = find_operator("broadcast_mul")
_MAXIMUM = find_operator("broadcast_maximum")
_LESSER = find_operator("broadcast_lesser")
_AT_LEAST = find_operator("_maximum_scalar")
_UNEQUAL = find_operator("_not_equal_scalar")

_COMPARED = ("equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal")
_LOGIC = ("logical_and", "logical_or", "logical_xor")
_TRUTHS = frozenset(
    {
        *(f"{form}_{name}" for name in (*_COMPARED, *_LOGIC) for form in ("broadcast", "")),
        *(f"_{name}_scalar" for name in (*_COMPARED, *_LOGIC)),
        *("logical_not", "_npi_logical_not"),
    }
)
_KEEPING = frozenset(
    {
        *("Cast", "_copy", "BlockGrad", "Reshape", "_reshape_exact", "Flatten", "expand_dims"),
        *("reshape_like", "squeeze", "broadcast_axis", "broadcast_to", "broadcast_like"),
        *("_npi_broadcast_to", "repeat", "tile", "transpose", "slice_axis", "slice", "slice_like"),
    }
)
_BOTH = frozenset(
    {"elemwise_mul", "broadcast_mul", "broadcast_minimum", "broadcast_logical_and", "_logical_and"}
)
_DEPTH = 24


class Grid(NamedTuple):
    """Extents of the scores that masks are laid over."""

    batch: int
    heads: int
    queries: int
    keys: int


class Hiding(NamedTuple):
    """Inputs and attributes of ``_attention``, and factors for rows without keys.

    Attributes:
        grid: Extents of the scores: their first axis may hold heads beside the batch.
        mask: The mask, of four axes; None without.
        lengths: Numbers of queries and keys (2, N); None without.
        causal: Whether later keys are hidden.
        queries: Factor of the queries (N or 1, heads or 1, T or 1, 1); None for 1.
        output: Factor of the output, alike.
    """

    grid: Grid
    mask: Value | None = None
    lengths: Value | None = None
    causal: bool = False
    queries: Value | None = None
    output: Value | None = None


class _Placed(NamedTuple):
    """A value laid over the scores.

    Attributes:
        root: The value, of any shape with the same elements in the same order.
        shape: Four extents, each that of the scores or 1.
    """

    root: Value
    shape: Shape

    @property
    def value(self) -> Value:
        """The value with four axes."""
        return reshaped(self.root, self.shape)

    def operand(self, value: Value) -> "_Placed | None":
        """Return an operand of the root's operator, laid over the scores, too."""
        return _placed(spread(value).broadcast(self.root.shape), self.shape)

    def truth(self) -> "_Placed":
        """Return the value before casts of its 0 and 1."""
        found = self
        while True:
            before = _before_casts(found.root)
            inner = None if before is None else found.operand(before)
            if inner is None:
                return found
            found = inner


def _before_casts(value: Value) -> Value | None:
    """Return the same 0 and 1 with one operator less; None without such."""
    name, inputs = _name(value), value.node.inputs
    if name == "Cast" and is_truth(inputs[0]):
        return inputs[0]
    if name == "logical_not" or (name == "_rminus_scalar" and is_truth(value)):
        return _opposite(inputs[0])
    return None


def _opposite(truth: Value) -> Value | None:
    """Return 1 for 0, and 0 for others, without an operator more than there are; else None."""
    name, inputs = _name(truth), truth.node.inputs
    if name == "Cast" and is_truth(inputs[0]):
        return _opposite(inputs[0])
    if name == "logical_not" or (name == "_rminus_scalar" and is_truth(truth)):
        return inputs[0]
    if name in _OPPOSITES:
        made: Value = apply(find_operator(_OPPOSITES[name]), inputs, {})
        return made
    return None


_OPPOSITES = {
    "broadcast_lesser": "broadcast_greater_equal",
    "broadcast_greater_equal": "broadcast_lesser",
    "broadcast_greater": "broadcast_lesser_equal",
    "broadcast_lesser_equal": "broadcast_greater",
}


def _placed(found: Spread, shape: Shape) -> _Placed | None:
    """Return a spread laid over scores of a shape; None if it repeats some other way."""
    grouped = found.regrouped(shape)
    compact = None if grouped is None else grouped.compact_shape()
    return None if compact is None else _Placed(found.source, compact)


class _Rows(NamedTuple):
    """What rows without keys are like.

    Attributes:
        fill: The score of hidden keys; None if they have no weight at all.
        equal: Whether all keys have the same weight then; else they are weighed by their scores.
    """

    fill: float | None
    equal: bool = True


class _Condition(NamedTuple):
    """Keys are seen where a value is not 0."""

    seen: Spread
    rows: _Rows


class Collected:
    """What hides the keys of one attention, from the softmax down.

    Args:
        constants: Values that no input changes.

    Attributes:
        values: All masks and lengths.
    """

    def __init__(self, constants: Constants) -> None:
        self.values: list[Value] = []
        self._added: list[Spread] = []
        self._conditions: list[_Condition] = []
        self._lengths: list[tuple[Spread, _Rows]] = []
        self._swallows = FAR
        self._product: Spread | None = None
        self._constants = constants
        self._key: list[Any] = []

    def copy(self) -> "Collected":
        """Return an equal one that can grow alone."""
        made = Collected(self._constants)
        made.values, made._added = [*self.values], [*self._added]
        made._conditions, made._lengths = [*self._conditions], [*self._lengths]
        made._product, made._key = self._product, [*self._key]
        made._swallows = self._swallows
        return made

    @property
    def key(self) -> tuple[Any, ...]:
        """What `build` depends on beside its arguments."""
        return tuple(self._key)

    def _take(self, kind: str, value: Value, shape: Shape, *rest: Any) -> Spread:
        self.values.append(value)
        self._key.append((kind, value.key, shape, *rest))
        return spread(value).broadcast(shape)

    def add(self, mask: Value, scores: Spec, factor: float) -> None:
        """Take a mask that is added to scores, times a factor."""
        laid = self._take("add", mask, scores.shape, factor)
        if factor != 1:
            laid = laid._replace(source=laid.source * factor)
        if scores.dtype.itemsize > 2:
            self._swallows = _SWALLOWS
        condition = _two_valued(laid, self._swallows)
        if condition is None:
            self._added.append(laid)
        else:
            self._conditions.append(condition)

    def select(self, condition: Value, shape: Shape, fill: float, *, negated: bool = False) -> None:
        """Take a condition for keys to be seen, and what hidden ones have for a score."""
        laid = self._take("select", condition, shape, fill, negated)
        if negated:
            laid = laid._replace(source=apply(_NOT, (laid.source,), {}))
        self._conditions.append(_Condition(laid, _Rows(fill)))

    def limit(self, lengths: Value, rows: Shape, fill: float | None) -> None:
        """Take numbers of keys of rows, and what hidden ones have for a score; None: no weight."""
        self._lengths.append((self._take("limit", lengths, rows, fill), _Rows(fill)))

    def multiply(self, mask: Value, shape: Shape) -> None:
        """Take a mask that the weights are multiplied by."""
        self._product = self._take("multiply", mask, shape)

    def build(self, shape: Shape, dtype: np.dtype[Any]) -> Hiding | None:
        """Return what hides the same keys.

        Args:
            shape: Extents of the scores: (N heads, T, S) or (N, heads, T, S).
            dtype: Dtype of the queries.

        Returns:
            None if that cannot be told, or not be done.
        """
        if bool(self._added) + bool(self._conditions or self._lengths) != 1:
            return None
        if len(shape) not in (3, 4) or 0 in shape:
            return None
        kinds = {x.rows for x in self._conditions} | {x for _, x in self._lengths}
        if len(kinds) > 1 or any(x.fill is not None and not x.fill <= FAR for x in kinds):
            return None
        masks = [*self._added, *(x.seen for x in self._conditions)]
        grid = _grid(shape, [*masks, *(rows for rows, _ in self._lengths)])
        placed = [_placed(x, grid) for x in masks]
        rows = [_placed(x, grid[:3]) for x, _ in self._lengths]
        if None in placed or None in rows:
            return None
        known = [x for x in placed if x is not None]
        if self._added:
            return _hidden_by_sum(known, grid, dtype, self._constants, self._swallows)
        if self._product is not None and not self._is_same_mask(known, grid):
            return None
        parts = _Parts(grid, self._constants)
        for condition in known:
            parts.see(condition)
        for numbers in rows:
            parts.count(numbers)  # type: ignore[arg-type]  # not None here
        (kind,) = kinds
        if self._product is not None and not math.isinf(kind.fill or 0):
            kind = _Rows(None)
        return parts.built(dtype, kind)

    def _is_same_mask(self, conditions: Sequence[_Placed], grid: Grid) -> bool:
        """Whether the weights are multiplied by the 0 and 1 of the only condition."""
        assert self._product is not None
        placed = _placed(self._product, grid)
        if placed is None or len(conditions) != 1 or not is_truth(placed.root):
            return False
        one, other = conditions[0].truth(), placed.truth()
        return one.root.key == other.root.key and one.shape == other.shape


def _grid(shape: Shape, spreads: Sequence[Spread]) -> Grid:
    """Return the extents of scores, with heads of their own if a mask differs from the batch's."""
    if len(shape) == 4:
        return Grid(*shape)
    for found in spreads:
        first = found.regrouped((shape[0], math.prod(found.shape) // shape[0]))
        if first is not None and len(first.axes[0]) == 2:
            (batch, _), (heads, _) = first.axes[0]
            return Grid(batch, heads, *shape[1:])
    return Grid(shape[0], 1, *shape[1:])


def _name(value: Value) -> str:
    """Return the name of the operator that computes a value; empty for variables."""
    op = value.node.op
    return "" if op is None or value.index else op.name


def _two_valued(mask: Spread, swallows: float) -> _Condition | None:
    """Return the condition of a mask that is 0 for seen keys and a large number for others."""
    value, factor, offset = mask.source, 1.0, 0.0  # mask = factor * value + offset
    while not is_truth(value):
        name = _name(value)
        if name not in _AFFINE:
            return None
        scale, added = _AFFINE[name](float(value.node.attrs.get("scalar", 0.0)))
        value, factor, offset = value.node.inputs[0], factor * scale, factor * added + offset
        if not (math.isfinite(factor) and math.isfinite(offset)):
            return None
    narrow = mask.source.spec.dtype == FLOAT16 and max(abs(factor), abs(offset)) > _MOST
    if value.shape != mask.source.shape or narrow:
        return None
    if factor + offset == 0 and offset <= FAR:
        return _Condition(mask._replace(source=value), _Rows(offset, offset <= swallows))
    if offset == 0 and factor <= FAR:
        seen = mask._replace(source=apply(_NOT, (value,), {}))
        return _Condition(seen, _Rows(factor, factor <= swallows))
    return None


_AFFINE: dict[str, Callable[[float], tuple[float, float]]] = {
    "Cast": lambda _: (1.0, 0.0),
    "negative": lambda _: (-1.0, 0.0),
    "_mul_scalar": lambda x: (x, 0.0),
    "_div_scalar": lambda x: (1 / x if x else math.inf, 0.0),
    "_plus_scalar": lambda x: (1.0, x),
    "_minus_scalar": lambda x: (1.0, -x),
    "_rminus_scalar": lambda x: (-1.0, x),
}


def _hidden_by_sum(
    masks: Sequence[_Placed],
    grid: Grid,
    dtype: np.dtype[Any],
    constants: Constants,
    swallows: float,
) -> Hiding:
    """Return what hides keys by masks that are added."""
    known = constants.of(masks[0].root) if len(masks) == 1 else None
    if known is not None:
        known = np.asarray(known, np.float64).reshape(masks[0].shape)
        if np.all((known == 0) | (known <= FAR)) and _is_causal(known == 0, grid):
            return Hiding(grid, causal=True)
    total = cast(masks[0].value, FLOAT32)
    for mask in masks[1:]:
        total = apply(_ADD, (total, cast(mask.value, FLOAT32)), {})
    if known is not None and bool(np.all(known.max(-1) > FAR)):
        return Hiding(grid, mask=_finished(total, grid, dtype))
    top = _greatest(total)
    hidden = top <= FAR
    # Infinite sums give NaN, as their softmax does.
    shift = apply(_WHERE, (hidden, top, zeros_like(top)), {})
    shifted = _finished(apply(_SUBTRACT, (total, shift), {}), grid, dtype)
    return Hiding(grid, mask=shifted, queries=cast(top > swallows, dtype))


def _greatest(mask: Value) -> Value:
    """Return the greatest number of each row, with an axis of one key."""
    made: Value = apply(_MAX, (mask,), {"axis": (3,), "keepdims": True, "exclude": False})
    return made


def _finished(mask: Value, grid: Grid, dtype: np.dtype[Any]) -> Value:
    """Return a mask in a dtype, with nothing below `MASKED`, and with all keys."""
    mask = cast(apply(_AT_LEAST, (mask,), {"scalar": MASKED, "is_int": False}), dtype)
    shape = (*mask.shape[:3], grid.keys)
    return mask if mask.shape == shape else apply(_BROADCAST, (mask,), {"shape": shape})


def _is_causal(seen: np.ndarray[Any, Any], grid: Grid) -> bool:
    """Whether the last query sees all keys, and each one before it one key less."""
    if grid.keys < grid.queries or seen.size != grid.queries * grid.keys:
        return False
    expected = np.tri(grid.queries, grid.keys, grid.keys - grid.queries, dtype=bool)
    return bool(np.array_equal(seen.reshape(expected.shape), expected))


class _Parts:
    """Conditions for keys to be seen, all of which must hold: causality, lengths and others.

    Args:
        grid: The scores.
        constants: Values that no input changes.
    """

    def __init__(self, grid: Grid, constants: Constants) -> None:
        self._grid, self._constants = grid, constants
        self._causal: Value | None = None
        self._lengths: Value | None = None  # (N or 1, 1, 1, 1)
        self._others: list[Value] = []

    def see(self, condition: _Placed) -> None:
        """Take a condition."""
        condition = condition.truth()
        root = condition.root
        known = self._constants.of(root)
        if known is not None and self._causal is None and _is_causal(known != 0, self._grid):
            self._causal = condition.value
            return
        if _name(root) in _BOTH and all(map(is_truth, root.node.inputs)):
            operands = [condition.operand(x) for x in root.node.inputs]
            if None not in operands:
                for operand in operands:
                    self.see(operand)  # type: ignore[arg-type]  # not None here
                return
        lengths = self._compared_lengths(condition)
        if lengths is not None and self._lengths is None:
            self._lengths = lengths
        else:
            self._others.append(condition.value)

    def count(self, numbers: _Placed) -> None:
        """Take numbers of keys of rows (N, heads, T)."""
        lengths = reshaped(numbers.root, (*numbers.shape, 1))
        if numbers.shape[1:] == (1, 1) and self._lengths is None:
            self._lengths = lengths
        else:
            self._others.append(_steps_below(lengths, self._grid.keys))

    def _compared_lengths(self, condition: _Placed) -> Value | None:
        """Return the numbers of keys that a condition compares with their places; else None."""
        root, shape = condition.root, condition.shape
        if shape[1:] != (1, 1, self._grid.keys):
            return None
        name, inputs = _name(root), root.node.inputs
        if name == "SequenceMask":
            axis, ones = root.node.attrs["axis"], uniform(inputs[0]) == 1
            if not ones or axis != 1 or root.node.attrs["value"] or len(inputs) < 2:
                return None
            numbers = cast(inputs[1], INT32)  # whole steps
            return reshaped(numbers, (shape[0], 1, 1, 1)) if numbers.size == shape[0] else None
        if name.endswith("_greater"):
            inputs = inputs[::-1]
        elif not name.endswith("_lesser"):
            return None
        steps, numbers = self._constants.of(inputs[0]), inputs[1]
        if steps is None:
            return None
        rows = np.broadcast_to(steps, root.shape).reshape(shape[0], -1)
        if not np.array_equal(rows, np.broadcast_to(np.arange(self._grid.keys), rows.shape)):
            return None
        laid = spread(numbers).broadcast(root.shape).regrouped(shape)
        if laid is None or any(stride for _, stride in laid.axes[3]):
            return None
        compact = _placed(laid._replace(axes=(*laid.axes[:3], ())), (*shape[:3], 1))
        return None if compact is None else compact.value

    def built(self, dtype: np.dtype[Any], rows: _Rows) -> Hiding:
        """Return what hides the other keys.

        Args:
            dtype: Dtype of the mask.
            rows: What rows without keys are like.
        """
        zero, endless = rows.fill is None, rows.fill == -math.inf
        grid, causal, others = self._grid, self._causal is not None, self._others
        if self._lengths is not None:
            square = grid.queries == grid.keys
            if not others and (zero or not (causal or endless)) and (square or not causal):
                found = _hidden_by_lengths(self._lengths, grid, dtype, zero=zero)
                factor = found.queries if rows.equal else None
                return found._replace(causal=causal, queries=factor)
            others = [*others, _steps_below(self._lengths, grid.keys)]
        if not others:
            return Hiding(grid, causal=causal)
        if self._causal is not None:  # rows may have no keys by several conditions at once
            others = [*others, self._causal]
        seen = _as_number(others[0])
        for other in others[1:]:
            seen = apply(_MULTIPLY, (seen, _as_number(other)), {})
        some = _greatest(seen)
        none = 1.0 - some
        if endless:
            lost = apply(_WHERE, (some, none, none * math.nan), {})
            hidden = 1.0 - apply(_ADD, (seen, lost), {})
            return Hiding(grid, mask=_finished(hidden * MASKED, grid, dtype))
        hidden = 1.0 - apply(_MAXIMUM, (seen, none), {})
        mask, some = _finished(hidden * MASKED, grid, dtype), cast(some, dtype)
        if zero:
            return Hiding(grid, mask=mask, output=some)
        return Hiding(grid, mask=mask, queries=some if rows.equal else None)


def _hidden_by_lengths(numbers: Value, grid: Grid, dtype: np.dtype[Any], *, zero: bool) -> Hiding:
    """Return what hides the keys from some numbers (N or 1, 1, 1, 1) on."""
    numbers = reshaped(numbers, (numbers.size,))
    if is_floating(numbers.spec.dtype):
        numbers = apply(_CEIL, (numbers,), {})
    numbers = cast(apply(_CLIP, (numbers,), {"a_min": 0.0, "a_max": float(grid.keys)}), INT32)
    if numbers.size < grid.batch:
        numbers = apply(_BROADCAST, (numbers,), {"shape": (grid.batch,)})
    some = numbers > 0
    factor = None
    if zero:
        queries = some * grid.queries
        keys = apply(_AT_LEAST, (numbers,), {"scalar": 1.0, "is_int": True})
    else:  # equal weights of all keys
        queries = zeros_like(some) + grid.queries
        keys = numbers + (1 - some) * grid.keys
        factor = reshaped(cast(some, dtype), (grid.batch, 1, 1, 1))
    lengths = apply(_STACK, (queries, keys), {"axis": 0, "num_args": 2})
    return Hiding(grid, lengths=lengths, queries=factor)


def _steps_below(numbers: Value, keys: int) -> Value:
    """Return where the place of a key is below some numbers (.., 1)."""
    attrs = _ARANGE.schema.parse(_ARANGE.name, {"start": 0, "stop": keys, "dtype": "float32"})
    node = Node(_ARANGE, "", (), attrs, _ARANGE.infer(**attrs))
    steps = reshaped(Value(node), (1, 1, 1, keys))
    made: Value = apply(_LESSER, (steps, cast(numbers, FLOAT32)), {})
    return made


def _as_number(condition: Value) -> Value:
    """Return a condition as float32 numbers 0 and 1."""
    if not is_truth(condition):
        condition = apply(_UNEQUAL, (condition,), {"scalar": 0.0, "is_int": False})
    number: Value = cast(condition, FLOAT32)
    return number


def is_truth(value: Value, depth: int = _DEPTH) -> bool:
    """Whether a value is surely 0 or 1 in each element."""
    node = value.node
    if value.spec.dtype == BOOL:
        return True
    if node.op is None or value.index or not depth:
        return False
    name = node.op.name
    if name in _TRUTHS or uniform(value) in (0.0, 1.0):
        return True
    if name == "_rminus_scalar":
        return bool(node.attrs["scalar"] == 1) and is_truth(node.inputs[0], depth - 1)
    if name == "SequenceMask":
        return node.attrs["value"] in (0, 1) and is_truth(node.inputs[0], depth - 1)
    if name in _KEEPING:
        return is_truth(node.inputs[0], depth - 1)
    return name in _BOTH and all(is_truth(x, depth - 1) for x in node.inputs)
