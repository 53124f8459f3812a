"""Generated kernels for single operators on large arrays.

They hang behind all other fast kernels: NumPy computes on one core, some operators in several
passes over memory, and converts 16-bit floats one by one. Compiling pays only for an operator that
is used a lot: each runs its reference kernel for its first elements. Their number decides, not time
nor what is on disk, so that a program that runs twice computes the same bits.
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
from gluonish.ops.registry import Operator
from gluonish.ops.support.refusals import note_refusal

LARGE = 1 << 16  # elements
_COSTLY = 1 << 8  # the same of special functions, which NumPy lacks or computes slowly
_SPECIAL = ("Activation", "LeakyReLU", "digamma", "_softplus", "erf", "gammaln")
_SPECIAL_ACTIVATIONS = ("gelu", "softrelu")  # of the two that have several
_ALONE = 1 << 12  # elements up to which no generated kernel wakes a team
# Elements that the reference kernel computes before another is compiled.
_WORTH = 1 << 22
_WORTH_COSTLY = 1 << 17

_COMPARISONS = ("equal", "greater", "greater_equal", "lesser", "lesser_equal", "not_equal")

# Operators that their generated kernel computes faster than NumPy: by all cores, in one pass.
SLOW = tuple(sorted(RULES))


_at_once = 0  # scopes of `compiled_at_once` that are open


@contextmanager
def compiled_at_once() -> Iterator[None]:
    """Within it every kernel is compiled when it is first wanted, in all threads.

    Elsewhere a generated kernel replaces a reference kernel when an operator has been used a lot;
    they differ in the last bits, and so do the first and a later call. It costs a program's first
    run a few seconds. ``MXNET_ENFORCE_DETERMINISM`` does so for a whole program.
    """
    global _at_once
    _at_once += 1
    try:
        yield
    finally:
        _at_once -= 1


def pays(elements: int, worth: int = _WORTH) -> bool:
    """Whether a kernel is worth compiling for what has computed so many elements without.

    Args:
        elements: How many.
        worth: How many are.
    """
    return _at_once > 0 or elements >= worth or MXNET_ENFORCE_DETERMINISM.value


class LargeKernel:
    """The kernel of one operator.

    Args:
        op: The operator.
    """

    __slots__ = ("_elements", "_least", "_op", "_programs")

    def __init__(self, op: Operator) -> None:
        self._op = op
        self._least = _COSTLY if op.name in _SPECIAL else LARGE
        self._programs: dict[str, Program] = {}  # by number of inputs and attributes
        self._elements = 0  # that the reference kernel has computed

    @property
    def compiles(self) -> bool:
        """Whether the next call runs a generated kernel."""
        return pays(self._elements, _WORTH if self._least == LARGE else _WORTH_COSTLY)

    def fast_kernel(self) -> FastKernel:
        """Return it as the registry wants it."""
        return FastKernel(
            *(BackEnd.GENERATED, self._op.name, self.takes),
            run=self,
            large_only=self._least == LARGE,
            alone=_ALONE,
            makes=KINDS,
        )

    def takes(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether it can run these inputs."""
        # What costs least first: small arrays come this way, too, and are to lose no time here.
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
        own = {name: value for name, value in attrs.items() if name != "key"}
        key = f"{count}{own}"
        program = self._programs.get(key)
        if program is None:
            step = Instruction(self._op, tuple(range(count)), own)
            made = self._op.num_outputs(own)
            program = Program(count, [step], range(count, count + made))
            self._programs[key] = program
        return program


class LargeProgram:
    """The kernel of a program: the reference kernels until compiling pays, then a generated one.

    Args:
        program: What it computes.
        name: For counts of refusals.
    """

    __slots__ = ("_elements", "_name", "_program")

    def __init__(self, program: Program, name: str) -> None:
        self._program = program
        self._name = name
        self._elements = 0  # that the reference kernels have computed

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
    """The kernel of a reduction of 16-bit floats: the reference kernel of them in float32.

    Args:
        op: The reduction. It computes in float32 or selects, and rounds once.
    """

    __slots__ = ("_cast", "_op")

    def __init__(self, op: Operator) -> None:
        self._op = op
        self._cast = LargeKernel(CAST)

    def fast_kernel(self) -> FastKernel:
        """Return it as the registry wants it."""
        name = self._op.name
        return FastKernel(BackEnd.GENERATED, name, self.takes, run=self, large_only=True)

    def takes(self, data: Spec, **attrs: Any) -> bool:
        """Whether it can run this input."""
        narrow = data.dtype.itemsize == 2  # before a call: small arrays come this way, too
        return narrow and self._cast.takes(data, dtype=FLOAT32)

    def __call__(self, xp: ModuleType, out: Any, data: Any, **attrs: Any) -> None:
        """Fill ``out``."""
        wide = np.empty_like(data, FLOAT32)
        self._cast(xp, wide, data, dtype=FLOAT32)
        result = np.empty(out.shape, FLOAT32)
        self._op.kernel(xp, result, wide, **attrs)
        out[...] = result.astype(out.dtype)


def _converts(*dtypes: np.dtype[Any]) -> bool:
    """Whether this CPU converts all of them."""
    return FLOAT16 not in dtypes or has_float16()


_REDUCTIONS = frozenset(("max", "min", "sum", "mean"))


def kernels_of(op: Operator) -> Iterator[FastKernel]:
    """Yield the kernel of an operator that computes single elements, or reduces 16-bit floats."""
    if op.name in RULES:
        yield LargeKernel(op).fast_kernel()
    if op.name in _REDUCTIONS:
        yield WideReduction(op).fast_kernel()
