"""Generated kernels for single operators on large arrays.

They hang on operators whose reference kernels pass over memory several times, behind all other fast
kernels. Compiling pays only for an operator that is used a lot: each runs its reference kernel
until that has taken as long as compiling will.
"""

from time import perf_counter
from types import ModuleType
from typing import Any

from gluonish.core.config import MXNET_USE_FUSION
from gluonish.core.dtype import FLOAT16
from gluonish.core.spec import Spec
from gluonish.kernels.numba.compiler import available
from gluonish.kernels.numba.expressions import supports
from gluonish.kernels.numba.machine_code import has_float16
from gluonish.kernels.numba.pointwise import plan_pointwise
from gluonish.kernels.onednn.api import RefusedError
from gluonish.kernels.refusals import note_refusal
from gluonish.ops.fused_pointwise import Instruction, Program
from gluonish.ops.registry import FastKernel, Operator

__all__ = ["LARGE", "SLOW", "LargeKernel"]

LARGE = 1 << 16  # elements
_COMPILING_S = 0.2  # seconds that the reference kernel takes before another is compiled

# Operators that their generated kernel computes at least 1.3 times as fast on one thread.
SLOW = (
    "Dropout",
    "LeakyReLU",
    "_activation_backward",
    "_leaky_relu_backward",
    "_softplus",
    "add_n",
    "clip",
    "erf",
    "hard_sigmoid",
    "log_sigmoid",
    "mish",
    "reciprocal",
    "rint",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "smooth_l1",
    "softsign",
    "where",
)


class LargeKernel:
    """The kernel of one operator.

    Args:
        op: The operator.
    """

    __slots__ = ("_op", "_programs", "_spent_s")

    def __init__(self, op: Operator) -> None:
        self._op = op
        self._programs: dict[str, Program] = {}  # by number of inputs and attributes
        self._spent_s = 0.0

    @property
    def compiles(self) -> bool:
        """Whether the next call compiles, or runs what was compiled."""
        return self._spent_s > _COMPILING_S

    def fast_kernel(self) -> FastKernel:
        """Return it as the registry wants it."""
        return FastKernel(f"numba.{self._op.name}", self.takes, self)

    def takes(self, *specs: Spec, **attrs: Any) -> bool:
        """Whether it can run these inputs."""
        # Sizes first: small arrays come this way, too, and are to lose no time here.
        return (
            specs[0].size >= LARGE
            and MXNET_USE_FUSION.value
            and supports(self._op, attrs, specs)
            and available()
            and (specs[0].dtype != FLOAT16 or has_float16())
        )

    def __call__(self, xp: ModuleType, out: Any, *inputs: Any, **attrs: Any) -> None:
        """Fill ``out``."""
        if not self.compiles:
            start = perf_counter()
            self._op.kernel(xp, out, *inputs, **attrs)
            self._spent_s += perf_counter() - start
            return
        outputs = out if isinstance(out, tuple) else (out,)
        try:
            plan = plan_pointwise(outputs, inputs, self._program(len(inputs), attrs)).plan
        except RefusedError as error:
            note_refusal(self._op.name, error)
            self._op.kernel(xp, out, *inputs, **attrs)
        else:
            plan.run(*outputs, *inputs, key=attrs.get("key"))

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
