"""CUDA C++ source of a kernel that runs a program of elementwise operators on adjacent elements.

A *vector* is a few adjacent elements of the outputs, loaded and stored by accesses of 16 bytes
(vectors.cuh). Threads go through vectors in steps of all threads of the launch, and load the
vectors of up to four steps before they store any. What else an operator reads is broadcast:

- one number for all elements is loaded before the loop;
- a row along the innermost axis (a bias, or channels in channels-last) is loaded before the loop,
  too: the number of threads is a multiple of the vectors of a row, so that a thread always meets
  the same elements of it;
- a number for each row of the outputs (channels in NCHW), or a row of an operand that has some of
  the outer axes, is loaded for each vector, whose row is found by a multiplication.

Elements left over behind the last whole vector are computed one by one.
"""

import math
import re
from collections.abc import Iterator, Sequence

from gluonish.core.dtype import BFLOAT16, FLOAT16
from gluonish.core.spec import Spec
from gluonish.kernels.cupy.pointwise_source import (
    BLOCK,
    THREADS,
    PointwiseKernel,
    uniform,
)
from gluonish.kernels.cupy.roundings import split_rounding
from gluonish.kernels.cupy.source import VECTOR_NBYTES, index
from gluonish.kernels.generated.loops import Loops
from gluonish.kernels.generated.pointwise_source import computed_type
from gluonish.ops.fused.pointwise import Program

_MAX_LENGTH = 8  # elements of a vector
_MAX_ITEMS = 32  # elements of a thread that are loaded at a time, of all inputs that are vectors
_LONG = 12  # expressions from which on a thread computes one vector at a time
_BLOCKS = 1024  # enough to fill any device; more would load rows more often
_MAX_ROW = 64  # a row may force the number of blocks to a multiple of at most this

_NAMES = re.compile(r"\b(?:t\d+|draw\d*)\b")
_ROUND = {FLOAT16: "round_f16", BFLOAT16: "round_bf16"}

# How an array is read.
_VECTOR, _NUMBER, _ROW, _PER_ROW, _OUTER = "vector", "number", "row", "per row", "outer row"


def vector_length(itemsizes: Sequence[int], loops: Loops, alignment: int, *, draws: bool) -> int:
    """Return the number of elements of a vector; 0 if arrays need a `ScatteredKernel`.

    Args:
        itemsizes: Size of an element of each array that the kernel uses, in bytes.
        loops: Loops over these arrays and, last, the row-major indices of elements.
        alignment: Number of bytes of which all addresses are multiples.
        draws: Whether the program draws random numbers.
    """
    *arrays, order = loops.strides
    inner = loops.extents[-1]
    kinds = [_kind(strides, loops) for strides in arrays]
    if None in kinds or kinds[0] != _VECTOR or (draws and order != arrays[0]):
        return 0
    moved = [
        (size, strides)
        for size, strides, kind in zip(itemsizes, arrays, kinds, strict=True)
        if kind in (_VECTOR, _ROW, _OUTER)
    ]
    whole = any(kind not in (_VECTOR, _NUMBER) for kind in kinds)
    length = min(_MAX_LENGTH, VECTOR_NBYTES // min(size for size, _ in moved))
    length = max(length, BLOCK) if draws else length
    least = BLOCK if draws else 2
    if math.prod(loops.extents) < length:
        return 0
    while length >= least:
        fits = not whole or inner % length == 0
        for size, strides in moved:
            fits &= alignment % min(VECTOR_NBYTES, length * size) == 0
            fits &= all(step % length == 0 for step in strides[:-1])
        if fits:
            return length
        length //= 2
    return 0


def _kind(strides: tuple[int, ...], loops: Loops) -> str | None:
    """Return how an array is read; None if it has no adjacent elements to load at once."""
    *outer, inner = strides
    dense = loops.strides[0]
    if strides == dense:
        return _VECTOR if inner == 1 else None
    if inner == 1:
        return _OUTER if any(outer) else _ROW
    if inner == 0:
        return _PER_ROW if any(outer) else _NUMBER
    return None


class VectorKernel(PointwiseKernel):
    """A kernel whose threads access ``length`` adjacent elements at a time.

    Args:
        length: What `vector_length` returns.
    """

    def __init__(
        self,
        program: Program,
        specs: Sequence[Spec],
        loops: Loops,
        length: int,
        *,
        wide: bool,
    ) -> None:
        super().__init__(program, specs, loops, wide=wide)
        self._length = length
        self._inputs = self._loaded
        self._of_kind: dict[str, list[int]] = {}
        for i in self._inputs:
            self._of_kind.setdefault(str(_kind(loops.strides[i], loops)), []).append(i)
        self._vectors = self._total // length
        self._groups = loops.extents[-1] // length  # vectors of a row
        self._unroll = self._steps()
        self.blocks = self._launched()
        body = [*self._before(), *self._loops_over_vectors(), *self._rest()]
        self.text = self._source(length, body, ("vectors.cuh",))

    def _list(self, *kinds: str) -> list[int]:
        return [i for kind in kinds for i in self._of_kind.get(kind, ())]

    def _steps(self) -> int:
        """Return how many vectors a thread loads before it stores any."""
        if len(self._computed) > _LONG or self._series:
            return 1
        inputs = max(1, len(self._list(_VECTOR, _OUTER)))
        return max(1, min(4, _MAX_ITEMS // (self._length * inputs)))

    def _launched(self) -> int:
        """Return the number of blocks, which decides how rows are read."""
        blocks = min(_BLOCKS, -(-self._vectors // (THREADS * self._unroll)))
        if not self._list(_ROW):
            return blocks
        multiple = self._groups // math.gcd(self._groups, THREADS)
        if multiple > _MAX_ROW:  # rows are read for each vector
            self._of_kind.setdefault(_OUTER, []).extend(self._of_kind.pop(_ROW))
            return blocks
        return -(-blocks // multiple) * multiple

    def _type(self, i: int) -> str:
        return computed_type(self._dtypes[i])

    def _before(self) -> Iterator[str]:
        """Yield lines before the loop: constants of the thread."""
        self._add("Index vectors", index(self._vectors, self._wide))
        yield "const Index step = (Index)gridDim.x * THREADS;"
        yield "const Index first = (Index)blockIdx.x * THREADS + threadIdx.x;"
        for i in self._list(_NUMBER):
            yield f"const {self._type(i)} t{self._values[i]} = {self._load(i, '0')};"
        rows = self._list(_ROW)
        if rows:
            self._extent("ng", self._groups, "g")
            yield f"const Index group = first - {self._quotient('first', 'g')} * ng;"
        for i in rows:
            yield f"{self._type(i)} l{i}[ITEMS];"
            yield f"load_vector<ITEMS>(p{i} + ITEMS * group, l{i});"

    def _loops_over_vectors(self) -> Iterator[str]:
        """Yield a loop that takes several vectors at a time, and one for those that are left."""
        yield "Index next = first;"
        count = self._unroll
        if count > 1:
            yield f"for (; next + {count - 1} * step < vectors; next += {count} * step) {{"
            yield from self._body(count)
            yield "}"
        yield "for (; next < vectors; next += step) {"
        yield from self._body(1)
        yield "}"

    def _body(self, count: int) -> Iterator[str]:
        loaded = self._list(_VECTOR, _PER_ROW, _OUTER)
        for i in loaded:
            yield f"    {self._type(i)} l{i}[{count}]{'' if self._is_number(i) else '[ITEMS]'};"
        for lines in (self._loading() if loaded else (), self._computing()):
            yield "    #pragma unroll"
            yield f"    for (int u = 0; u < {count}; ++u) {{"
            yield "        const Index v = next + u * step;"
            for line in lines:
                yield f"        {line}"
            yield "    }"

    def _is_number(self, i: int) -> bool:
        return i in self._list(_PER_ROW)

    def _loading(self) -> Iterator[str]:
        """Yield lines that load the inputs of vector ``v``."""
        for i in self._list(_VECTOR):
            yield f"load_vector<ITEMS>(p{i} + ITEMS * v, l{i}[u]);"
        by_row = self._list(_PER_ROW, _OUTER)
        if not by_row:
            return
        outer = range(len(self._loops.extents) - 1)
        self._extent("ng", self._groups, "g")
        yield f"const Index row = {self._quotient('v', 'g')};"
        levels = {level for i in by_row for level in outer if self._loops.strides[i][level]}
        yield from self._indices(levels, "row", len(outer) - 1)
        for i in by_row:
            at = self._offset(i, outer)
            if self._is_number(i):
                yield f"l{i}[u] = {self._load(i, at)};"
            else:
                yield f"load_vector<ITEMS>(p{i} + {at} + ITEMS * (v - row * ng), l{i}[u]);"

    def _computing(self) -> Iterator[str]:
        """Yield lines that compute and store vector ``v``."""
        outputs = self._stored
        for name in self._series:
            key = f"seed{name}, offset{name}"
            yield f"Block drawn{name}[ITEMS / {BLOCK}];"
            yield "#pragma unroll"
            yield f"for (int b = 0; b < ITEMS / {BLOCK}; ++b)"
            yield f"    drawn{name}[b] = philox(ITEMS / {BLOCK} * v + b, {key});"
        for i in outputs:
            yield f"{self._type(i)} o{i}[ITEMS];"
        yield "#pragma unroll"
        yield "for (int k = 0; k < ITEMS; k += 2) {"
        for line in self._pairs(outputs):
            yield f"    {line}"
        yield "}"
        for i in outputs:
            yield f"store_vector<ITEMS>(p{i} + ITEMS * v, o{i});"

    def _pairs(self, outputs: Sequence[int]) -> Iterator[str]:
        """Yield lines that compute elements k and k + 1, which are rounded to 16 bits together."""
        for at, end in (("k", "a"), ("k + 1", "b")):
            for name in self._series:
                bits = f"drawn{name}[({at}) / {BLOCK}].word[({at}) % {BLOCK}]"
                yield f"const float32 draw{name}{end} = {uniform(bits)};"
            for i in self._inputs:
                element = "" if i in self._list(_ROW) else "[u]"
                element += "" if i in self._list(_PER_ROW) else f"[{at}]"
                name = f"t{self._values[i]}"
                source = name if i in self._list(_NUMBER) else f"l{i}{element}"
                yield f"const {self._type(i)} {name}{end} = {source};"
        for value, text in self._computed:
            rounded = split_rounding(text)
            kind, text = ("float32", rounded[1]) if rounded else ("const auto", text)
            for end in "ab":
                named = _NAMES.sub(rf"\g<0>{end}", text)
                yield f"{kind} t{value}{end} = {named};"
            if rounded:
                yield f"{_ROUND[rounded[0]]}(t{value}a, t{value}b);"
        for i in outputs:
            yield f"o{i}[k] = t{self._values[i]}a;"
            yield f"o{i}[k + 1] = t{self._values[i]}b;"

    def _rest(self) -> Iterator[str]:
        """Yield lines for the elements behind the last whole vector."""
        if self._total % self._length == 0:
            return
        yield "const Index e = ITEMS * vectors + first;"
        yield "if (e >= total) return;"
        for name in self._series:
            bits = f"philox(e / {BLOCK}, seed{name}, offset{name}).word[e % {BLOCK}]"
            yield f"const float32 draw{name} = {uniform(bits)};"
        for i in self._list(_VECTOR):
            yield f"const {self._type(i)} t{self._values[i]} = {self._load(i, 'e')};"
        yield from self._expressions()
        for i in self._stored:
            yield self._store(i, "e")
