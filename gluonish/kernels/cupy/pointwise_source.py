"""CUDA C++ source of a kernel that runs a program of elementwise operators.

The expressions are those of the CPU kernels. A thread computes a few elements, THREADS apart. It
loads all inputs before it stores, so that an output may share memory with an input. Shapes, strides
and numbers are arguments, so that one compiled kernel serves many calls; only strides of 0 and 1,
and which arrays have the layout of the first output, are part of the source.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.source import index, text_of
from gluonish.kernels.generated.expressions import draws
from gluonish.kernels.generated.loops import Loops, row_major
from gluonish.kernels.generated.pointwise_source import LOADS, STORES, computed, computed_type
from gluonish.ops.fused.pointwise import Program

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
_BLOCK = 4  # random numbers per Philox block
# The key of random numbers, relative to the key that ``base`` points to unless null (philox.cu).
_KEY = (
    *("const unsigned long long *base", "unsigned long long seed"),
    "unsigned long long offset",
)


def divisor(number: int) -> tuple[int, int]:
    """Return the factor and shift by which ``divided`` in CUDA divides numbers below 2**31.

    References:
        T. Granlund, P. Montgomery, Division by Invariant Integers Using Multiplication, 1994.
    """
    shift = (number - 1).bit_length()
    return (2**32 * (2**shift - number)) // number + 1, shift


class PointwiseKernel:
    """The source of one kernel, and its arguments.

    Args:
        specs: The specs of all values of the program.
        loops: Loops over the outputs, the inputs and, last, the row-major indices of elements.
        wide: Whether element indices need 64 bits.

    Attributes:
        text: The source.
        used: Indices of the arrays that the kernel has as arguments, in order.
        numbers: Arguments after the arrays, without the key of random numbers.
        draws: Whether the last arguments are base, seed and offset of a random key.
        items: Number of elements per thread.
    """

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
        self._total = 1
        for extent in loops.extents:
            self._total *= extent
        self._add("Index total", index(self._total, wide))
        self._computed = list(computed(program, specs, self._number))
        read = set(re.findall(r"\bt(\d+)\b", "\n".join(text for _, text in self._computed)))
        read |= {str(value) for value in program.outputs}
        self.used = [
            i for i, value in enumerate(self._values) if i < self._outputs or str(value) in read
        ]
        narrow = all(self._dtypes[i].itemsize <= 2 for i in self.used)
        self.items = _BLOCK if self.draws or not narrow else 2 * _BLOCK
        self.text = "\n".join(self._lines())

    def _add(self, parameter: str, value: Any) -> None:
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

    def _lines(self) -> Iterator[str]:
        gathering, computing = list(self._gathering()), list(self._computing())
        dtypes = {self._dtypes[i] for i in self.used} | self._rounds_to()
        yield f"#define INDEX {'unsigned long long' if self._wide else 'unsigned int'}"
        yield f"#define FLOAT16 {int(FLOAT16 in dtypes)}"
        yield f"#define BFLOAT16 {int(BFLOAT16 in dtypes)}"
        yield f"#define ITEMS {self.items}"
        yield text_of("pointwise.cuh")
        if self.draws:
            yield text_of("philox.cuh")
        arrays = [
            f"{'' if i < self._outputs else 'const '}{C_TYPES[self._dtypes[i]]} *p{i}"
            for i in self.used
        ]
        key = list(_KEY) if self.draws else []
        yield 'extern "C" __global__ void fused('
        yield f"    {', '.join([*arrays, *self._parameters, *key])}) {{"
        if self.draws:
            yield "    if (base) seed += base[0], offset += base[1];"
        for line in (*self._head, *self._start(), *gathering, *computing):
            yield f"    {line}"
        yield "}"

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

    def _start(self) -> Iterator[str]:
        """Yield lines before both loops; element k of a thread is ``start + k * STEP``."""
        if self.draws and self._in_order:  # a thread's elements are one Philox block
            yield "const Index start = ITEMS * ((Index)blockIdx.x * THREADS + threadIdx.x);"
            yield "const Index step = 1;"
            yield "if (start >= total) return;"
            yield "const Block drawn = philox(start / ITEMS, seed, offset);"
        else:
            yield "const Index start = (Index)blockIdx.x * (ITEMS * THREADS) + threadIdx.x;"
            yield "const Index step = THREADS;"
            yield "if (start >= total) return;"

    def _gathering(self) -> Iterator[str]:
        inputs = self.used[self._outputs :]
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
            load = LOADS.get(self._dtypes[i], "int64({})")
            yield f"        l{i}[k] = {load.format(f'p{i}[{self._index(i)}]')};"
        yield "    }"
        yield "}"

    def _computing(self) -> Iterator[str]:
        outputs = self.used[: self._outputs]
        yield "#pragma unroll"
        yield "for (int k = 0; k < ITEMS; ++k) {"
        yield "    const Index e = start + k * step;"
        yield "    if (e >= total) return;"
        arrays = list(outputs)
        if self.draws:
            arrays.append(len(self._values))
        for line in (*self._loop_indices(arrays), *self._draw()):
            yield f"    {line}"
        for i in self.used[self._outputs :]:
            yield f"    const {computed_type(self._dtypes[i])} t{self._values[i]} = l{i}[k];"
        for value, text in self._computed:
            yield f"    const auto t{value} = {text};"
        for i in outputs:
            stored = STORES[self._dtypes[i]].format(f"t{self._values[i]}")
            yield f"    p{i}[{self._index(i)}] = {stored};"
        yield "}"

    def _draw(self) -> Iterator[str]:
        if not self.draws:
            return
        bits = "drawn.word[k]"
        if not self._in_order:
            yield f"const Index at = {self._index(len(self._values))};"
            bits = f"philox(at / {_BLOCK}, seed, offset).word[at % {_BLOCK}]"
        yield f"const float32 draw = float32({bits} >> 8) * 5.9604644775390625e-8f;"

    def _loop_indices(self, arrays: Sequence[int]) -> Iterator[str]:
        """Yield lines for an element's index in each loop, if any array has another layout."""
        used = {int(n) for n in re.findall(r"\bi(\d+)", " ".join(map(self._index, arrays)))}
        if not used:
            return
        left = "e"
        for level in range(len(self._loops.extents) - 1, max(min(used), 1) - 1, -1):
            self._extent(level)
            by = f"{left} / n{level}" if self._wide else f"divided({left}, m{level}, h{level})"
            yield f"const Index r{level} = {by};"
            if level in used:
                yield f"const Index i{level} = {left} - r{level} * n{level};"
            left = f"r{level}"
        if 0 in used:
            yield f"const Index i0 = {left};"

    def _extent(self, level: int) -> None:
        """Add the arguments of a loop, unless they are already added."""
        parameter = f"Index n{level}"
        if parameter in self._parameters:
            return
        extent = self._loops.extents[level]
        self._add(parameter, index(extent, self._wide))
        if not self._wide:
            factor, shift = divisor(extent)
            self._add(f"unsigned m{level}", np.uint32(factor))
            self._add(f"unsigned h{level}", np.uint32(shift))

    def _index(self, i: int) -> str:
        strides = self._loops.strides[i]
        if strides == self._dense:
            return "e"
        terms = []
        for level, step in enumerate(strides):
            if step == 1:
                terms.append(f"i{level}")
            elif step:
                name = f"s{i}_{level}"
                if f"Index {name}" not in self._parameters:
                    self._add(f"Index {name}", index(step, self._wide))
                terms.append(f"i{level} * {name}")
        return " + ".join(terms) or "0"
