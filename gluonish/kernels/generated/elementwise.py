"""Generated kernels for single operators on large arrays.

They come after all other fast kernels. NumPy uses one core, computes some operators in several
passes over memory, and converts 16-bit floats one by one. Compiling pays only for operators that
are used a lot, so each runs its reference kernel first, until it has computed a fixed number of
elements. The switch depends neither on time nor on the disk cache, so that each run of a program
gives the same bits.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from gluonish.core.config import MXNET_ENFORCE_DETERMINISM, MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT16, FLOAT32
from gluonish.core.spec import Spec
from gluonish.kernels.compiler import available
from gluonish.kernels.compiler.machine_code import has_float16
from gluonish.kernels.generated import kink_expressions as _kinks  # noqa: F401  # adds to RULES
from gluonish.kernels.generated import numpy_expressions as _numpy  # noqa: F401  # adds to RULES
from gluonish.kernels.generated.expressions import KINDS, RULES, supports
from gluonish.kernels.generated.pointwise import plan_pointwise
from gluonish.ops.elementwise.cast import CAST
from gluonish.ops.fused.pointwise import FUSED_POINTWISE_MANY, Instruction, Program
from gluonish.ops.kernel import BackEnd, FastKernel, RefusedError
from gluonish.ops.nn.gelu import FORM_OF
from gluonish.ops.registry import Operator
from gluonish.ops.support.refusals import note_refusal

LARGE = 1 << 16  # elements
_LARGE_SPECIAL = 1 << 8  # elements, for special functions that NumPy lacks or computes slowly
_SPECIAL = ("Activation", "LeakyReLU", "digamma", "_softplus", "erf", "gammaln")
_SPECIAL_ACTIVATIONS = (*FORM_OF, "softrelu")  # of Activation and LeakyReLU
_SINGLE_THREAD = 1 << 12  # elements up to which a kernel runs without a team
# Elements that the reference kernel computes before a kernel is compiled.
_WORTH = 1 << 22
_WORTH_SPECIAL = 1 << 17

_COMPARISONS = ("equal", "greater", "greater_equal", "lesser", "lesser_equal", "not_equal")

# Operators whose generated kernel is faster than NumPy, as it uses all cores and a single pass.
SLOW = tuple(sorted(RULES))


_at_once = 0  # number of active scopes of `compiled_at_once`


@contextmanager
def compiled_at_once() -> Iterator[None]:
    """Within the scope, compile every kernel on first use, in all threads.

    Otherwise a generated kernel replaces the reference kernel of an operator once it is used a lot.
    The last bits of their results differ, so a later call may differ from the first. The scope
    costs the first run of a program a few seconds. ``MXNET_ENFORCE_DETERMINISM`` does the same for
    the whole program.
    """
    global _at_once
    _at_once += 1
    try:
        yield
    finally:
        _at_once -= 1


def pays(elements: int, worth: int = _WORTH) -> bool:
    """Whether to compile a kernel, after reference kernels have computed ``elements`` elements."""
    return _at_once > 0 or elements >= worth or MXNET_ENFORCE_DETERMINISM.value


class LargeKernel:
    """The generated kernel of one operator, for large arrays."""

    __slots__ = ("_elements", "_least", "_op", "_programs")

    def __init__(self, op: Operator) -> None:
        self._op = op
        self._least = _LARGE_SPECIAL if op.name in _SPECIAL else LARGE
        self._programs: dict[str, Program] = {}  # keyed by number of inputs, and attributes
        self._elements = 0  # number computed by the reference kernel

    @property
    def compiles(self) -> bool:
        """Whether the next call runs the generated kernel."""
        return pays(self._elements, _WORTH if self._least == LARGE else _WORTH_SPECIAL)

    def fast_kernel(self) -> FastKernel:
        """Return the kernel to register."""
        return FastKernel(
            *(BackEnd.GENERATED, self._op.name, self.supports),
            run=self,
            large_only=self._least == LARGE,
            serial_limit=_SINGLE_THREAD,
            makes=KINDS,
        )

    def supports(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether the kernel supports these inputs."""
        # The cheapest checks come first, since calls on small arrays also get here.
        least = self._least if attrs.get("act_type", "gelu") in _SPECIAL_ACTIVATIONS else LARGE
        return (
            (specs[0].size >= least or specs[-1].size >= least)
            and MXNET_USE_FUSION.value
            and supports(self._op, attrs, specs)
            and available()
            and _converts(attrs.get("dtype", specs[0].dtype), *[spec.dtype for spec in specs])
        )

    def __call__(self, xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
        """Fill ``out``."""
        outputs = out if isinstance(out, tuple) else (out,)
        if self.compiles:
            bound = plan_pointwise(outputs, inputs, self._program(len(inputs), attrs))
            bound.plan.run(*outputs, *inputs, key=attrs.get("key"))
            return
        self._op.kernel(xp, out, *inputs, **attrs)
        self._elements += max([x.size for x in (*outputs, *inputs)])

    def _program(self, count: int, attrs: dict[str, Any]) -> Program:
        fixed = {name: value for name, value in attrs.items() if name != "key"}
        key = f"{count}{fixed}"
        program = self._programs.get(key)
        if program is None:
            instruction = Instruction(self._op, tuple(range(count)), fixed)
            made = self._op.num_outputs(fixed)
            program = Program(count, [instruction], range(count, count + made))
            self._programs[key] = program
        return program


class LargeProgram:
    """Runs a program by reference kernels until compiling pays, then by a generated kernel.

    ``name`` identifies the program where rejected calls are counted.
    """

    __slots__ = ("_elements", "_name", "_program")

    def __init__(self, program: Program, name: str) -> None:
        self._program = program
        self._name = name
        self._elements = 0  # number computed by the reference kernels

    def __call__(self, xp: ModuleType, out: Any, *inputs: Any) -> None:
        """Fill ``out``."""
        program = self._program
        outputs = out if isinstance(out, tuple) else (out,)
        if pays(self._elements):
            try:
                bound = plan_pointwise(outputs, inputs, program)
            except RefusedError as error:
                note_refusal(self._name, error)
            else:
                bound.plan.run(*outputs, *inputs)
                return
        FUSED_POINTWISE_MANY.kernel(xp, outputs, *inputs, num_args=len(inputs), program=program)
        self._elements += outputs[0].size * len(program.instructions)


class WideReduction:
    """A reduction of 16-bit floats that runs the reference kernel on a float32 copy.

    Only for reductions that compute in float32 and round once, or that select an element.
    """

    __slots__ = ("_cast", "_op")

    def __init__(self, op: Operator) -> None:
        self._op = op
        self._cast = LargeKernel(CAST)

    def fast_kernel(self) -> FastKernel:
        """Return the kernel to register."""
        name = self._op.name
        return FastKernel(BackEnd.GENERATED, name, self.supports, run=self, large_only=True)

    def supports(self, data: Spec, **attrs: Any) -> bool:
        """Whether the kernel supports this input."""
        narrow = data.dtype.itemsize == 2  # the cheapest check comes first
        return narrow and self._cast.supports(data, dtype=FLOAT32)

    def __call__(self, xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
        """Fill ``out``."""
        wide = np.empty_like(data, FLOAT32)
        self._cast(xp, wide, data, dtype=FLOAT32)
        result = np.empty(out.shape, FLOAT32)
        self._op.kernel(xp, result, wide, **attrs)
        out[...] = result.astype(out.dtype)


def _converts(*dtypes: np.dtype[Any]) -> bool:
    """Whether this CPU has instructions to convert all of these dtypes."""
    return FLOAT16 not in dtypes or has_float16()


_REDUCTIONS = frozenset(("max", "min", "sum", "mean"))


def kernels_of(op: Operator) -> Iterator[FastKernel]:
    """Yield the kernel of an elementwise operator, or of a reduction of 16-bit floats."""
    if op.name in RULES:
        yield LargeKernel(op).fast_kernel()
    if op.name in _REDUCTIONS:
        yield WideReduction(op).fast_kernel()
