"""Generated kernels for programs of operators on single elements, and their plans.

A plan depends on a program and on the layouts of the arrays: it holds a compiled kernel and the
words that the kernel is called with, in which only addresses (and the key of random numbers) change
from call to call. Plans are shared by all threads; the words of a call belong to one thread from
their `pop` to their `append` on the plan's list of idle ones, both single steps of the interpreter.
"""

import math
import re
import sys
from collections.abc import Collection, Sequence
from ctypes import addressof, c_int64
from typing import Any, NamedTuple

from gluonish.core.config import MXNET_FUSION_VERBOSE
from gluonish.core.spec import Spec
from gluonish.kernels.numba.compiler import GRAIN, CompiledKernel, KernelError, compile_kernel
from gluonish.kernels.numba.expressions import aligned_shape
from gluonish.kernels.numba.loops import Loops, broadcast_strides, find_loops, row_major
from gluonish.kernels.numba.pointwise_source import PointwiseSource
from gluonish.kernels.onednn.api import RefusedError
from gluonish.kernels.onednn.memory import address, signature
from gluonish.ops.fused_pointwise import Program

__all__ = ["Attached", "Bound", "PointwisePlan", "plan_pointwise"]

_MAX_PLANS = 4096  # beyond it all are dropped; keeps memory bounded where shapes never repeat

_ELEMENTARY = re.compile(r"\b(?:exp|expm1|log\w*|tanh|sigmoid|softplus|erf|philox_\w+)\(")

Key = tuple[int, int]


class PointwisePlan:
    """A kernel and the words that it is called with, for arrays of some layouts.

    Args:
        kernel: What runs.
        source: What it was compiled from, with its words.
        loops: Over the arrays.
    """

    __slots__ = ("_extent", "_grain", "_idle", "_kernel", "_key_at", "_words")

    def __init__(self, kernel: CompiledKernel, source: PointwiseSource, loops: Loops) -> None:
        self._kernel = kernel
        self._words = source.words
        self._key_at = source.key_at
        *outer, inner = loops.extents
        self._extent = math.prod(outer) if outer else inner
        # Simple arithmetic wants twice as many elements before a thread pays, and each elementary
        # function costs about three simple operators.
        grain = 2 * GRAIN // (1 + 3 * min(5, len(_ELEMENTARY.findall(source.text))))
        self._grain = max(1, grain // inner) if outer else grain
        self._idle: list[tuple[Any, int]] = []

    def new_words(self) -> tuple[Any, int]:
        """Return words of one's own, and their address."""
        words = (c_int64 * len(self._words))(*self._words)
        return words, addressof(words)

    def launch(self, words: tuple[Any, int], key: Key | None) -> None:
        """Run on the arrays whose addresses are in the words."""
        if key is not None and self._key_at:
            words[0][self._key_at], words[0][self._key_at + 1] = key
        self._kernel.run_at(self._extent, words[1], self._grain)

    def run(self, *arrays: Any, key: Key | None = None) -> None:
        """Run on outputs and inputs, which lie as those that the plan was made for.

        Args:
            *arrays: Outputs, then inputs.
            key: Where the random numbers of this call start.
        """
        try:
            words = self._idle.pop()
        except IndexError:
            words = self.new_words()
        own = words[0]
        for i, array in enumerate(arrays):
            own[i] = address(array)
        self.launch(words, key)
        self._idle.append(words)

    def packing(self, stable: Collection[int]) -> None:
        """Nothing is computed ahead."""

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Any],
        moving: Collection[int],
        packing: None = None,
    ) -> "Attached":
        """Return the plan bound to memory; arguments of `Attached`."""
        return Attached(self, operands, arrays, moving)


class Attached:
    """A plan on memory that mostly stays where it is, for one caller at a time.

    Args:
        plan: The plan.
        operands: Where each operand lies among the arrays that `run` is given.
        arrays: Those arrays, now.
        moving: Places of arrays that may lie elsewhere at the next call.
    """

    __slots__ = ("_moving", "_plan", "_words")

    def __init__(
        self,
        plan: PointwisePlan,
        operands: Sequence[int],
        arrays: Sequence[Any],
        moving: Collection[int],
    ) -> None:
        self._plan = plan
        self._words = plan.new_words()
        self._moving: list[tuple[int, int]] = []
        for i, place in enumerate(operands):
            if place in moving:
                self._moving.append((i, place))
            else:
                self._words[0][i] = address(arrays[place])

    def run(self, arrays: Sequence[Any]) -> None:
        """Run on the arrays at their places."""
        own = self._words[0]
        for i, place in self._moving:
            own[i] = address(arrays[place])
        self._plan.launch(self._words, None)

    def pack(self, arrays: Sequence[Any]) -> None:
        """Compute nothing."""


class Bound(NamedTuple):
    """A plan for one call.

    Attributes:
        plan: The plan.
        operands: For each operand of the plan, which array it is: outputs, then inputs.
    """

    plan: PointwisePlan
    operands: tuple[int, ...]


_plans: dict[tuple[Any, ...], PointwisePlan] = {}


def plan_pointwise(outputs: Sequence[Any], inputs: Sequence[Any], program: Program) -> Bound:
    """Find or make the plan of a program for some arrays.

    Args:
        outputs: What it fills; all of one shape.
        inputs: What it reads; they may be stretched to the outputs' shape.
        program: Operators that `expressions` supports.

    Raises:
        RefusedError: The arrays are empty or off their alignment, the outputs have several shapes,
            or Numba is missing.
    """
    arrays = (*outputs, *inputs)
    key = (program, *map(signature, arrays))
    plan = _plans.get(key)
    if plan is None:
        if len(_plans) >= _MAX_PLANS:
            _plans.clear()
        plan = _plans[key] = _new_plan(outputs, inputs, program)
    return Bound(plan, tuple(range(len(arrays))))


def _new_plan(outputs: Sequence[Any], inputs: Sequence[Any], program: Program) -> PointwisePlan:
    specs = program.specs([Spec(x.shape, x.dtype) for x in inputs])
    shape = outputs[0].shape
    if any(x.shape != shape for x in outputs) or 0 in shape:
        raise RefusedError(
            f"fused_pointwise: expected outputs of one shape, not empty, got "
            f"{', '.join(str(x.shape) for x in outputs)}"
        )
    owns = [x.shape for x in outputs] + _own_shapes(program, specs)
    strides = []
    for array, own in zip((*outputs, *inputs), owns, strict=True):
        found = broadcast_strides(array, own, shape)
        if found is None:
            raise RefusedError("fused_pointwise: expected aligned arrays, got others")
        strides.append(found)
    loops = find_loops(shape, [*strides, row_major(shape)])
    source = PointwiseSource(program, specs, loops)
    if MXNET_FUSION_VERBOSE.value:
        sys.stderr.write(f"# {program}\n{source.text}\n")
    try:
        kernel = compile_kernel(source.text, ())
    except KernelError as error:
        raise RefusedError(f"fused_pointwise: {error}") from error
    return PointwisePlan(kernel, source, loops)


def _own_shapes(program: Program, specs: Sequence[Spec]) -> list[tuple[int, ...]]:
    """Return the shape in which each input broadcasts."""
    owns = [spec.shape for spec in specs[: program.num_inputs]]
    for op, inputs, attrs in program.instructions:
        read = [specs[i] for i in inputs]
        for position, number in enumerate(inputs):
            if number < program.num_inputs:
                own = aligned_shape(op, attrs, read, position)
                if len(own) > len(owns[number]):
                    owns[number] = own
    return owns
