"""CUDA C++ of a kernel that runs a program of operators on single elements.

The expressions are those of the kernels on CPUs. A thread does a few elements, THREADS apart: it
reads all that it needs of them before it writes, so that an output may lie where an input does.
Shapes, strides and numbers are arguments, so that one compiled kernel serves many calls; only which
arrays lie like the first output, and which strides are 0 or 1, is part of the source.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gluonish.core.dtype import BFLOAT16, BOOL, FLOAT16, FLOAT32, FLOAT64
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.source import index, text_of
from gluonish.kernels.generated.element_lines import LOADS, STORES, computed, register
from gluonish.kernels.generated.expressions import draws
from gluonish.kernels.generated.loops import Loops, row_major
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
_WORDS = 4  # that Philox makes at a time
# The key of random numbers; what ``base`` points to, if to anything, is added (philox.cu).
_KEY = (
    *("const unsigned long long *base", "unsigned long long seed"),
    "unsigned long long offset",
)


def divisor(number: int) -> tuple[int, int]:
    """Return factor and shift by which `divided` of the source divides numbers below 2**31.

    References:
        T. Granlund, P. Montgomery, Division by Invariant Integers Using Multiplication, 1994.
    """
    shift = (number - 1).bit_length()
    return (2**32 * (2**shift - number)) // number + 1, shift


class PointwiseKernel:
    """The source of one kernel, and its arguments.

    Args:
        program: What to compute.
        specs: Of all values of the program.
        loops: Over the arrays: outputs, inputs, and last the positions of elements in row-major
            order.
        wide: Whether elements are numbered in 64 bits.

    Attributes:
        text: The source.
        used: Numbers of the arrays that are arguments, in their order.
        numbers: The arguments behind the arrays, but for the key of random numbers.
        draws: Whether base, seed and offset of a key are the last arguments.
        items: Elements of a thread.
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
        self.items = _WORDS if self.draws or not narrow else 2 * _WORDS
        self.text = "\n".join(self._lines())

    def _add(self, parameter: str, value: Any) -> None:
        self._parameters.append(parameter)
        self.numbers.append(value)

    def _number(self, kind: str, value: float) -> str:
        """Return the name of a number in a type."""
        key = (kind, repr(value))
        name = self._names.get(key)
        if name is None:
            place = len(self._names)
            name = self._names[key] = f"c{place}"
            whole = kind == "int64"
            given = np.int64(value) if whole else np.float64(value)
            self._add(f"{'long long' if whole else 'double'} a{place}", given)
            self._head.append(f"const {kind} {name} = {kind}(a{place});")
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
        """Whether elements are done in row-major order."""
        return self._loops.strides[-1] == self._dense

    def _start(self) -> Iterator[str]:
        """What comes before both loops; element k of a thread is ``start + k * STEP``."""
        if self.draws and self._in_order:  # whose words are one block
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
            yield f"{register(self._dtypes[i])} l{i}[ITEMS];"
        if not inputs:
            return
        yield "#pragma unroll"
        yield "for (int k = 0; k < ITEMS; ++k) {"
        yield "    const Index e = start + k * step;"
        yield "    if (e < total) {"
        for line in self._places(inputs):
            yield f"        {line}"
        for i in inputs:
            load = LOADS.get(self._dtypes[i], "int64({})")
            yield f"        l{i}[k] = {load.format(f'p{i}[{self._place(i)}]')};"
        yield "    }"
        yield "}"

    def _computing(self) -> Iterator[str]:
        outputs = self.used[: self._outputs]
        yield "#pragma unroll"
        yield "for (int k = 0; k < ITEMS; ++k) {"
        yield "    const Index e = start + k * step;"
        yield "    if (e >= total) return;"
        places = list(outputs)
        if self.draws:
            places.append(len(self._values))
        for line in (*self._places(places), *self._draw()):
            yield f"    {line}"
        for i in self.used[self._outputs :]:
            yield f"    const {register(self._dtypes[i])} t{self._values[i]} = l{i}[k];"
        for value, text in self._computed:
            yield f"    const auto t{value} = {text};"
        for i in outputs:
            stored = STORES[self._dtypes[i]].format(f"t{self._values[i]}")
            yield f"    p{i}[{self._place(i)}] = {stored};"
        yield "}"

    def _draw(self) -> Iterator[str]:
        if not self.draws:
            return
        word = "drawn.word[k]"
        if not self._in_order:
            yield f"const Index at = {self._place(len(self._values))};"
            word = f"philox(at / {_WORDS}, seed, offset).word[at % {_WORDS}]"
        yield f"const float32 draw = float32({word} >> 8) * 5.9604644775390625e-8f;"

    def _places(self, arrays: Sequence[int]) -> Iterator[str]:
        """Where element e lies along each loop, if one of the arrays lies in another order."""
        used = {int(n) for n in re.findall(r"\bi(\d+)", " ".join(map(self._place, arrays)))}
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
        """Add the arguments of a loop once."""
        parameter = f"Index n{level}"
        if parameter in self._parameters:
            return
        extent = self._loops.extents[level]
        self._add(parameter, index(extent, self._wide))
        if not self._wide:
            factor, shift = divisor(extent)
            self._add(f"unsigned m{level}", np.uint32(factor))
            self._add(f"unsigned h{level}", np.uint32(shift))

    def _place(self, i: int) -> str:
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
