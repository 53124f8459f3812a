"""CUDA C++ source of a kernel that runs a program of elementwise operators.

The expressions are those of the CPU kernels. A thread computes a few elements, and loads all their
inputs before it stores, so that an output may share memory with an input. Shapes, strides and
numbers are arguments, so that one compiled kernel serves many calls; only strides of 0 and 1, and
which arrays have the layout of the first output, are part of the source.

`ScatteredKernel` serves all arrays: a thread's elements are THREADS apart.
`gluonish.kernels.cupy.pointwise_vectors.VectorKernel` accesses adjacent elements at once.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.roundings import without_idle_roundings
from gluonish.kernels.cupy.source import index, text_of
from gluonish.kernels.generated.expressions import draws
from gluonish.kernels.generated.loops import Loops, row_major
from gluonish.kernels.generated.pointwise_source import LOADS, STORES, computed, computed_type
from gluonish.ops.fused.pointwise import Program
from gluonish.ops.nn.dropout import DROPOUT_FACTORS, DROPOUT_KEYED

C_TYPES = {
    FLOAT32: "float",
    FLOAT64: "double",
    BFLOAT16: "__nv_bfloat16",
    FLOAT16: "__half",
    BOOL: "unsigned char",
    np.dtype(np.uint8): "unsigned char",
    np.dtype(np.int8): "signed char",
    np.dtype(np.int32): "int",
    np.dtype(np.int64): "long long",
}
THREADS = 256  # as in pointwise.cuh
BLOCK = 4  # random numbers per Philox block
# The key of random numbers, relative to the key that ``base`` points to unless null (philox.cu).
_KEY = (
    *("const unsigned long long *base", "unsigned long long seed"),
    "unsigned long long offset",
)


def key_values(program: Program) -> frozenset[int]:
    """Return the values of a program that are keys of random numbers."""
    found = set()
    count = program.num_inputs
    for op, inputs, attrs in program.instructions:
        if op is DROPOUT_FACTORS:
            found.add(inputs[0])
        if op is DROPOUT_KEYED:
            found.add(count + 1)
        count += op.num_outputs(attrs)
    return frozenset(found)


def divisor(number: int) -> tuple[int, int]:
    """Return the factor and shift by which ``divided`` in CUDA divides numbers below 2**31.

    References:
        T. Granlund, P. Montgomery, Division by Invariant Integers Using Multiplication, 1994.
    """
    shift = (number - 1).bit_length()
    return (2**32 * (2**shift - number)) // number + 1, shift


class PointwiseKernel:
    """What the kernels of a program have in common: arguments, constants and expressions.

    Args:
        specs: The specs of all values of the program.
        loops: Loops over the outputs, the inputs and, last, the row-major indices of elements.
        wide: Whether element indices need 64 bits.

    Attributes:
        text: The source.
        used: Indices of the arrays that the kernel has as arguments, in order.
        numbers: Arguments after the arrays, without the key of random numbers.
        draws: Whether the last arguments are base, seed and offset of a random key.
        blocks: Number of blocks of a launch.
    """

    text: str
    blocks: int

    def __init__(
        self, program: Program, specs: Sequence[Spec], loops: Loops, *, wide: bool
    ) -> None:
        self._loops = loops
        self._wide = wide
        self._dense = row_major(loops.extents)
        self._values = [*program.outputs, *range(program.num_inputs)]
        self._dtypes = [specs[value].dtype for value in self._values]
        self._outputs = len(program.outputs)
        self._parameters: list[str] = []
        self._head: list[str] = []
        self._names: dict[tuple[str, str], str] = {}
        self.numbers: list[Any] = []
        self.draws = any(draws(op, attrs) for op, _, attrs in program.instructions)
        keys = key_values(program)
        # Indices of the arrays that are keys: outputs, and inputs.
        self._keys = [i for i, value in enumerate(self._values) if value in keys]
        self._total = math.prod(loops.extents)
        self._add("Index total", index(self._total, wide))
        stored = {value: specs[value].dtype for value in program.outputs}
        made = list(computed(program, specs, self._number))
        self._computed = without_idle_roundings(made, stored)
        read = set(re.findall(r"\bt(\d+)\b", "\n".join(text for _, text in self._computed)))
        read |= {str(value) for value in program.outputs}
        self.used = [
            i
            for i, value in enumerate(self._values)
            if i < self._outputs or i in self._keys or str(value) in read
        ]
        self._stored = [i for i in self.used if i < self._outputs and i not in self._keys]
        self._loaded = [i for i in self.used if i >= self._outputs and i not in self._keys]
        # What the names of each series of random numbers end with: its key is "" if drawn anew.
        self._series = [""] if self.draws else []
        self._series += [str(self._values[i]) for i in self._keys if i >= self._outputs]
        self._head += self._lines_of_keys()

    def _lines_of_keys(self) -> Iterator[str]:
        """Yield lines that store the key of new random numbers, and load those of others."""
        for i in self._keys:
            if i >= self._outputs:
                name = self._values[i]
                yield f"const unsigned long long seed{name} = p{i}[0], offset{name} = p{i}[1];"
                continue
            yield "if (blockIdx.x == 0 && threadIdx.x == 0) {"
            yield f"    p{i}[0] = (long long)seed;"
            yield f"    p{i}[1] = (long long)offset;"
            yield "}"

    def _add(self, parameter: str, value: Any) -> None:
        """Add an argument, unless it is already added."""
        if parameter not in self._parameters:
            self._parameters.append(parameter)
            self.numbers.append(value)

    def _number(self, kind: str, value: float) -> str:
        """Return the name of a constant of type ``kind``, adding it on first use."""
        key = (kind, repr(value))
        name = self._names.get(key)
        if name is None:
            number = len(self._names)
            name = self._names[key] = f"c{number}"
            is_integer = kind == "int64"
            argument = np.int64(value) if is_integer else np.float64(value)
            self._add(f"{'long long' if is_integer else 'double'} a{number}", argument)
            self._head.append(f"const {kind} {name} = {kind}(a{number});")
        return name

    def _source(self, items: int, body: Iterable[str], headers: Sequence[str] = ()) -> str:
        """Return the source whose kernel has these lines, with ``items`` as ITEMS."""
        lines = [*body]
        dtypes = {self._dtypes[i] for i in self.used} | self._rounds_to()
        arrays = [
            f"{'' if i < self._outputs else 'const '}{C_TYPES[self._dtypes[i]]} *p{i}"
            for i in self.used
        ]
        key = list(_KEY) if self.draws else []
        return "\n".join(
            [
                f"#define INDEX {'unsigned long long' if self._wide else 'unsigned int'}",
                f"#define FLOAT16 {int(FLOAT16 in dtypes)}",
                f"#define BFLOAT16 {int(BFLOAT16 in dtypes)}",
                f"#define ITEMS {items}",
                text_of("pointwise.cuh"),
                *map(text_of, [*headers, *(["philox.cuh"] if self._series else [])]),
                'extern "C" __global__ void fused(',
                f"    {', '.join([*arrays, *self._parameters, *key])}) {{",
                *(["    if (base) seed += base[0], offset += base[1];"] if self.draws else []),
                *(f"    {line}" for line in (*self._head, *lines)),
                "}",
            ]
        )

    def _rounds_to(self) -> set[np.dtype[Any]]:
        text = "\n".join(line for _, line in self._computed)
        return {
            dtype
            for dtype, store in ((FLOAT16, "store_f16"), (BFLOAT16, "store_bf16"))
            if store in text
        }

    @property
    def _in_order(self) -> bool:
        """Whether elements are computed in row-major order."""
        return self._loops.strides[-1] == self._dense

    def _expressions(self) -> Iterator[str]:
        for value, text in self._computed:
            yield f"const auto t{value} = {text};"

    def _load(self, i: int, at: str) -> str:
        """Return the expression of one element of an array, converted."""
        return LOADS.get(self._dtypes[i], "int64({})").format(f"p{i}[{at}]")

    def _store(self, i: int, at: str) -> str:
        """Return the statement that stores one element of an output."""
        stored = STORES[self._dtypes[i]].format(f"t{self._values[i]}")
        return f"p{i}[{at}] = {stored};"

    def _indices(self, levels: Iterable[int], left: str, innermost: int) -> Iterator[str]:
        """Yield lines that split ``left`` into an index ``i`` for each of some loops.

        Args:
            levels: The loops whose indices are read.
            left: Number of an iteration of all loops up to the innermost one.
            innermost: The innermost of the loops that ``left`` counts.
        """
        used = set(levels)
        if not used:
            return
        for level in range(innermost, max(min(used), 1) - 1, -1):
            self._extent(f"n{level}", self._loops.extents[level], str(level))
            yield f"const Index r{level} = {self._quotient(left, str(level))};"
            if level in used:
                yield f"const Index i{level} = {left} - r{level} * n{level};"
            left = f"r{level}"
        if 0 in used:
            yield f"const Index i0 = {left};"

    def _extent(self, name: str, extent: int, suffix: str) -> None:
        """Add the arguments to divide by an extent."""
        self._add(f"Index {name}", index(extent, self._wide))
        if not self._wide:
            factor, shift = divisor(extent)
            self._add(f"unsigned m{suffix}", np.uint32(factor))
            self._add(f"unsigned h{suffix}", np.uint32(shift))

    def _quotient(self, number: str, suffix: str) -> str:
        if self._wide:
            return f"{number} / n{suffix}"
        return f"divided({number}, m{suffix}, h{suffix})"

    def _offset(self, i: int, levels: Iterable[int]) -> str:
        """Return the offset of an array's element, as a sum over some loops."""
        terms = []
        for level in levels:
            step = self._loops.strides[i][level]
            if step == 1:
                terms.append(f"i{level}")
            elif step:
                name = f"s{i}_{level}"
                self._add(f"Index {name}", index(step, self._wide))
                terms.append(f"i{level} * {name}")
        return " + ".join(terms) or "0"


class ScatteredKernel(PointwiseKernel):
    """A kernel for arrays of any layouts: elements of a thread are THREADS apart."""

    def __init__(
        self, program: Program, specs: Sequence[Spec], loops: Loops, *, wide: bool
    ) -> None:
        super().__init__(program, specs, loops, wide=wide)
        arrays = (*self._stored, *self._loaded)
        narrow = all(self._dtypes[i].itemsize <= 2 for i in arrays)
        items = BLOCK if self._series or not narrow else 2 * BLOCK
        self.blocks = -(-self._total // (THREADS * items))
        self.text = self._source(items, [*self._start(), *self._gathering(), *self._computing()])

    def _start(self) -> Iterator[str]:
        """Yield lines before both loops; element k of a thread is ``start + k * STEP``."""
        if self._series and self._in_order:  # a thread's elements are one Philox block
            yield "const Index start = ITEMS * ((Index)blockIdx.x * THREADS + threadIdx.x);"
            yield "const Index step = 1;"
            yield "if (start >= total) return;"
            for name in self._series:
                yield f"const Block drawn{name} = philox(start / ITEMS, seed{name}, offset{name});"
        else:
            yield "const Index start = (Index)blockIdx.x * (ITEMS * THREADS) + threadIdx.x;"
            yield "const Index step = THREADS;"
            yield "if (start >= total) return;"

    def _gathering(self) -> Iterator[str]:
        inputs = self._loaded
        for i in inputs:
            yield f"{computed_type(self._dtypes[i])} l{i}[ITEMS];"
        if not inputs:
            return
        yield "#pragma unroll"
        yield "for (int k = 0; k < ITEMS; ++k) {"
        yield "    const Index e = start + k * step;"
        yield "    if (e < total) {"
        for line in self._loop_indices(inputs):
            yield f"        {line}"
        for i in inputs:
            yield f"        l{i}[k] = {self._load(i, self._index(i))};"
        yield "    }"
        yield "}"

    def _computing(self) -> Iterator[str]:
        outputs = self._stored
        yield "#pragma unroll"
        yield "for (int k = 0; k < ITEMS; ++k) {"
        yield "    const Index e = start + k * step;"
        yield "    if (e >= total) return;"
        arrays = list(outputs)
        if self._series:
            arrays.append(len(self._values))
        for line in (*self._loop_indices(arrays), *self._draw()):
            yield f"    {line}"
        for i in self._loaded:
            yield f"    const {computed_type(self._dtypes[i])} t{self._values[i]} = l{i}[k];"
        for line in (*self._expressions(), *(self._store(i, self._index(i)) for i in outputs)):
            yield f"    {line}"
        yield "}"

    def _draw(self) -> Iterator[str]:
        if self._series and not self._in_order:
            yield f"const Index at = {self._index(len(self._values))};"
        for name in self._series:
            bits = f"drawn{name}.word[k]"
            if not self._in_order:
                bits = f"philox(at / {BLOCK}, seed{name}, offset{name}).word[at % {BLOCK}]"
            yield f"const float32 draw{name} = {uniform(bits)};"

    def _loop_indices(self, arrays: Sequence[int]) -> Iterator[str]:
        """Yield lines for an element's index in each loop, if any array has another layout."""
        used = {int(n) for n in re.findall(r"\bi(\d+)", " ".join(map(self._index, arrays)))}
        yield from self._indices(used, "e", len(self._loops.extents) - 1)

    def _index(self, i: int) -> str:
        if self._loops.strides[i] == self._dense:
            return "e"
        return self._offset(i, range(len(self._loops.extents)))


def uniform(bits: str) -> str:
    """Return the expression of a uniform random number in [0, 1) from 32 random bits."""
    return f"float32({bits} >> 8) * 5.9604644775390625e-8f"
