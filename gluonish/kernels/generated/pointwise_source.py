"""The source of a kernel that runs a program of elementwise operators.

Loops come from `loops`, expressions from `expressions`. Extents, strides and numbers are params, so
that one compiled kernel serves many calls; only strides of 0 and 1 are part of the source.

The lines that compute the values of one element are written from the templates of `expressions`.
They are valid in Python and in C++: assignments of calls, operators and conversions. A kernel
provides the functions, and the type of each value.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.generated.expressions import (
    DRAW,
    KEY,
    KEYED_RULES,
    RULES,
    SECOND,
    Writer,
    constant,
    draws,
)
from gluonish.kernels.generated.loops import Loops
from gluonish.ops.fused.pointwise import Instruction, Program
from gluonish.ops.nn.dropout import DROPOUT_FACTORS

# Conversions of a value of each dtype after a load and before a store.
LOADS = {BFLOAT16: "load_bf16({})", FLOAT16: "load_f16({})", FLOAT32: "{}", FLOAT64: "{}"}
STORES = {
    FLOAT32: "{}",
    FLOAT64: "{}",
    BFLOAT16: "store_bf16({})",
    FLOAT16: "store_f16({})",
    BOOL: "uint8({})",
    np.dtype(np.uint8): "uint8({})",
    np.dtype(np.int8): "int8({})",
    np.dtype(np.int32): "int32({})",
    np.dtype(np.int64): "{}",
}
_CONVERSION = re.compile(r"\bW\(")
_FLAG = re.compile(r"\bflag\(")


def computed_type(dtype: np.dtype[Any]) -> str:
    """Return the type in which values of a dtype are computed."""
    if dtype == FLOAT64:
        return "float64"
    return "float32" if dtype in (FLOAT32, BFLOAT16, FLOAT16) else "int64"


# ``number(type, value)`` returns the name of a constant.
Number = Callable[[str, float], str]


def computed(program: Program, specs: Sequence[Spec], number: Number) -> Iterator[tuple[int, str]]:
    """Yield the index and the expression of each value of a program, in order of computation.

    In expressions value ``i`` is ``t{i}``, and the random number of an element is ``draw``, or
    ``draw{i}`` if value ``i`` is its key. Outputs that are keys have no expression.
    """
    count = program.num_inputs
    for instruction in program.instructions:
        made = _written(instruction, specs, number, count)
        # The second output comes first, because the first one reads it.
        yield from reversed([(count + i, text) for i, text in enumerate(made) if text != KEY])
        count += len(made)


def _written(
    instruction: Instruction, specs: Sequence[Spec], number: Number, count: int
) -> list[str]:
    op, inputs, attrs = instruction
    rule = RULES.get(op.name) or KEYED_RULES[op.name]
    target = specs[count].dtype
    names = [f"t{i}" for i in inputs]
    if op.name == "Cast":
        source = specs[inputs[0]].dtype
        return [_rounded(_cast(names[0], source, target), target)]
    data = target if rule.by_output else specs[inputs[0]].dtype
    kind = computed_type(data)
    writer = Writer(
        lambda value: number(kind, value),
        lambda value: number(kind, constant(data, value)),
        lambda value: number("float32", value),
        names,
        attrs,
        data,
    )
    draw = f"draw{inputs[0]}" if op is DROPOUT_FACTORS else "draw"
    texts = []
    for text in rule.write(writer):
        text = text.replace(SECOND, f"t{count + 1}").replace(DRAW, draw)
        text = _FLAG.sub(f"flag_{kind}(", _CONVERSION.sub(f"{kind}(", text))
        texts.append(text if rule.exact or text == KEY else _rounded(text, target))
    return texts


def _cast(name: str, source: np.dtype[Any], target: np.dtype[Any]) -> str:
    if target == BOOL:
        return f"flag_int64({name} != {computed_type(source)}(0))"
    return f"{computed_type(target)}({name})"


def _rounded(text: str, dtype: np.dtype[Any]) -> str:
    """Return an expression that rounds ``text`` to a dtype."""
    if dtype in (FLOAT32, FLOAT64, BOOL, np.dtype(np.int64)):
        return text
    stored = STORES[dtype].format(text)
    return LOADS.get(dtype, "int64({})").format(stored)


_VIEWS = {
    FLOAT32: "f32",
    FLOAT64: "f64",
    BFLOAT16: "u16",
    FLOAT16: "u16",
    BOOL: "u8",
    np.dtype(np.uint8): "u8",
    np.dtype(np.int8): "i8",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
}
_TILE = 1024  # random numbers generated at a time; they fit the first-level cache


class PointwiseSource:
    """The source of one kernel, and its params.

    Params are the address of each array (outputs, then inputs), the key of the random numbers if
    there are any, then extents, strides and numbers.

    Args:
        specs: The specs of all values of the program.
        loops: Loops over the outputs, the inputs and, last, the row-major indices of elements.

    Attributes:
        text: The source.
        params: All params, with zeros for addresses and key.
        key_at: Index of the key's two params; 0 without random numbers.
    """

    def __init__(self, program: Program, specs: Sequence[Spec], loops: Loops) -> None:
        self._program = program
        self._specs = specs
        self._loops = loops
        self._arrays = [*program.outputs, *range(program.num_inputs)]
        self.params: list[int] = [0] * len(self._arrays)
        self._head: list[str] = []  # lines before all loops
        random = any(draws(op, attrs) for op, _, attrs in program.instructions)
        self.key_at = len(self.params) if random else 0
        if random:
            self._param("seed", 0)
            self._param("offset", 0)
            self._head.append(f"unit = float32({2.0**-24!r})")
        self._numbers: dict[tuple[str, str], str] = {}
        self._computed = [f"t{i} = {text}" for i, text in computed(program, specs, self._number)]
        read = set(re.findall(r"\bt(\d+)\b", "\n".join(self._computed)))
        self._used = [
            i
            for i, value in enumerate(self._arrays)
            if i < len(program.outputs) or str(value) in read
        ]
        self.text = "\n".join(self._lines())

    def _param(self, name: str, value: int) -> None:
        """Add a param, and a variable for it."""
        self._head.append(f"{name} = params[{len(self.params)}]")
        self.params.append(value)

    def _number(self, kind: str, value: float) -> str:
        """Return the name of a constant of type ``kind``, adding it on first use."""
        key = (kind, repr(value))
        name = self._numbers.get(key)
        if name is None:
            name = self._numbers[key] = f"c{len(self._numbers)}"
            if kind == "int64":
                self._param(name, int(value))
            else:
                self._head.append(f"{name} = {kind}(as_float(params[{len(self.params)}]))")
                self.params.append(int(np.float64(value).view(np.int64)))
        return name

    def _lines(self) -> Iterator[str]:
        outer = len(self._loops.extents) - 1
        body = list(self._rows(outer) if outer else self._flat())
        yield "def body(begin, end, params):"
        for line in (*self._head, *body):
            yield f"    {line}"

    def _flat(self) -> Iterator[str]:
        """Yield one loop over all elements."""
        for i in self._used:
            yield f"p{i} = {self._view(i)}(params[{i}])"
        if self.key_at:
            yield "at = 0"
        yield from self._loop("begin", "end")

    def _rows(self, outer: int) -> Iterator[str]:
        """Yield a parallel loop over rows around a loop along each row."""
        extents = self._loops.extents
        for level in range(1, outer):
            self._param(f"n{level}", extents[level])
        self._param("n", extents[outer])
        steps: dict[int, list[str]] = {}
        for i in (*self._used, *([len(self._arrays)] if self.key_at else [])):
            steps[i] = []
            for level in range(outer):
                step = self._loops.strides[i][level]
                if step:
                    self._param(f"s{i}_{level}", step)
                    steps[i].append(f"i{level} * s{i}_{level}")
        yield "for row in range(begin, end):"
        left = "row"
        for level in range(outer - 1, 0, -1):
            yield f"    i{level} = {left} % n{level}"
            yield f"    r{level} = {left} // n{level}"
            left = f"r{level}"
        yield f"    i0 = {left}"
        for i in self._used:
            size = self._specs[self._arrays[i]].dtype.itemsize
            shift = f" + {size} * ({' + '.join(steps[i])})" if steps[i] else ""
            yield f"    p{i} = {self._view(i)}(params[{i}]{shift})"
        if self.key_at:
            yield f"    at = {' + '.join(steps[len(self._arrays)]) or '0'}"
        for line in self._loop("0", "n"):
            yield f"    {line}"

    def _loop(self, begin: str, end: str) -> Iterator[str]:
        """Yield the loads that are invariant in the innermost loop, and the loop."""
        inner = [steps[-1] for steps in self._loops.strides]
        for i, step in enumerate(inner[:-1]):
            if step not in (0, 1) and i in self._used:
                self._param(f"s{i}", step)
        count = len(self._program.outputs)
        for i in self._used[count:]:
            if inner[i] == 0:
                yield f"t{self._arrays[i]} = {self._loaded(i, '0')}"
        if self.key_at and inner[-1] == 1:
            yield f"for first in range({begin}, {end}, {_TILE}):"
            for line in self._tile(end):
                yield f"    {line}"
            return
        if self.key_at:
            self._param("step", inner[-1])
        yield f"for i in range({begin}, {end}):"
        yield "    independent()"
        if self.key_at:
            yield "    draw = float32(int32(philox_word(at + i * step, seed, offset) >> 8)) * unit"
        for line in self._element():
            yield f"    {line}"

    def _tile(self, end: str) -> Iterator[str]:
        """Yield a loop in row-major order that first generates random numbers, four at a time."""
        yield f"last = min(first + {_TILE}, {end})"
        yield "base = (at + first) & -4"
        yield "drawn = scratch()"
        yield "for block in range(base >> 2, (at + last + 3) >> 2):"
        yield "    independent()"
        yield "    philox_fill(drawn, 4 * block - base, block, seed, offset)"
        yield "for i in range(first, last):"
        yield "    independent()"
        yield "    draw = float32(int32(drawn[at + i - base] >> 8)) * unit"
        for line in self._element():
            yield f"    {line}"

    def _element(self) -> Iterator[str]:
        count = len(self._program.outputs)
        for i in self._used[count:]:
            step = self._loops.strides[i][-1]
            if step:
                yield f"t{self._arrays[i]} = {self._loaded(i, _index(i, step))}"
        yield from self._computed
        for i in range(count):
            value = self._arrays[i]
            store = STORES[self._specs[value].dtype]
            yield f"p{i}[{_index(i, self._loops.strides[i][-1])}] = {store.format(f't{value}')}"

    def _view(self, i: int) -> str:
        return _VIEWS[self._specs[self._arrays[i]].dtype]

    def _loaded(self, i: int, index: str) -> str:
        dtype = self._specs[self._arrays[i]].dtype
        return LOADS.get(dtype, "int64({})").format(f"p{i}[{index}]")


def _index(i: int, step: int) -> str:
    return "i" if step == 1 else f"i * s{i}"
