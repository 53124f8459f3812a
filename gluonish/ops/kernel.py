"""The contract between operators and the kernels of back ends.

A *reference kernel* is part of its operator: it defines the result, for any array. A `FastKernel`
computes the same within round-off, for the calls that it takes. It is hung on an operator in one of
two forms:

- ``plan(outputs, inputs, attrs)`` does once what depends on the layouts of the arrays only, and
  gives a `Bound`: a `Plan`, and which array each of its operands is. An eager call makes (or finds)
  the plan and runs it once. A graph *attaches* it to places in its memory, and runs what it gets,
  an `Attached`, in every call.
- ``run(xp, out, *inputs, **attrs)`` does all its work in each call, for kernels without plans. A
  kernel with a plan may have it, too, where an eager call does better than to run the plan once.

Either may raise `RefusedError`, for a layout that it does not know or what its library lacks. The
call then goes to the next kernel that takes it, in the order of preference, and last to the
reference kernel (`Operator.hang`); nothing may be written before.

Which kernel is preferred is said in one place, `gluonish.kernels.preference`.
"""

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from gluonish.core.device import Platform
from gluonish.core.errors import GluonishError
from gluonish.core.spec import Spec

Array = npt.NDArray[Any]
Attrs = Mapping[str, Any]
Kernel = Callable[..., None]
T = TypeVar("T")
Key = tuple[int, int]  # where the random numbers of a call start

# `array.ctypes.data` takes 1 us, more than all else that a call does to one array. The data pointer
# is the first field of NumPy's array struct, right behind the object header; the probe falls back
# where that does not hold.
_DATA_OFFSET = object.__basicsize__


def _address_by_field(array: Array) -> int:
    return ctypes.c_void_p.from_address(id(array) + _DATA_OFFSET).value or 0


def _address_by_property(array: Array) -> int:
    return array.ctypes.data


_PROBE = np.zeros(3, np.float32)
address = (
    _address_by_field
    if all(_address_by_field(view) == view.ctypes.data for view in (_PROBE, _PROBE[1:]))
    else _address_by_property
)


class RefusedError(GluonishError, RuntimeError):
    """A kernel cannot compute on these arrays, though it takes arrays of their shapes and types."""


class BackEnd(Enum):
    """What runs a kernel; the value begins the kernel's name."""

    NUMPY = "numpy"
    ONEDNN = "onednn"
    GENERATED = "generated"
    CUPY = "cupy"

    @property
    def platform(self) -> Platform:
        """The platform of the devices that it runs on."""
        return "gpu" if self is BackEnd.CUPY else "cpu"

    @property
    def has_team(self) -> bool:
        """Whether its kernels run on the team of OpenMP's threads."""
        return self in (BackEnd.ONEDNN, BackEnd.GENERATED)

    @property
    def joins_calls(self) -> bool:
        """Whether calls of it that follow one another can run as one, see `Joinable`."""
        return self is BackEnd.ONEDNN


class Attached(Protocol):
    """A plan and the places of its operands, for one caller at a time."""

    def run(self, arrays: Sequence[Any]) -> None:
        """Run on the arrays at the places."""

    def pack(self, arrays: Sequence[Any]) -> None:
        """Compute what can be computed ahead."""


@runtime_checkable
class Joinable(Attached, Protocol):
    """An `Attached` of which neighbours can run as one."""

    @classmethod
    def joined(cls, attached: Sequence[Any]) -> Attached:
        """Return what runs them one after the other, and computes nothing ahead."""
        raise NotImplementedError


class Plan(Protocol):
    """Work that is ready for any arrays of the layouts that it was made for, in any thread."""

    def run(self, *arrays: Any, key: Key | None = None) -> None:
        """Run on operands; ``key`` is given where the operator draws random numbers."""

    def packing(self, stable: Collection[int]) -> Any:
        """Return what `attach` needs to compute ahead from operands that rarely change, or None.

        Args:
            stable: Positions of the operands that rarely change.
        """

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Any],
        moving: Collection[int],
        packing: Any = None,
    ) -> Attached:
        """Return the plan bound to memory.

        Args:
            operands: Where each operand lies among the arrays that `Attached.run` is given.
            arrays: Those arrays, now.
            moving: Places of arrays that may lie elsewhere at the next call.
            packing: What `packing` gave; None to compute all in each run.
        """
        raise NotImplementedError


class Bound(NamedTuple):
    """A plan for one call of an operator.

    Attributes:
        plan: The plan.
        operands: For each operand of the plan, which array it is: a position among the operator's
            outputs and inputs, outputs first. None: these are all the operands, in this order.
    """

    plan: Plan
    operands: Sequence[int] | None = None

    def order(self, arrays: Sequence[T]) -> Sequence[T]:
        """Return what belongs to each operand, of what belongs to outputs and inputs."""
        return arrays if self.operands is None else [arrays[i] for i in self.operands]


def always() -> bool:
    """Return True: of kernels without a switch."""
    return True


class FastKernel:
    """A kernel of a back end that takes some of an operator's inputs, by ``plan``, ``run`` or both.

    Args:
        back_end: What runs it.
        name: Its name within the back end, for profiles, messages and tests.
        takes: Called with the input specs and the attributes; True if the kernel can run them.
        plan: ``plan(outputs, inputs, attrs)``, with tuples of arrays, gives a `Bound`.
        run: ``run(xp, out, *inputs, **attrs)``, as the reference kernel.
        enabled: Read when a call or a plan chooses its kernel; False switches the kernel off.
        packs: Whether plans may compute something ahead from inputs that rarely change.
        large_only: Whether it takes only what is too large to run in the calling thread.
        alone: Elements of the largest input up to which it runs in the calling thread alone,
            without the others of a team.
        makes: Dtypes of outputs that it can fill though no input has them. A call with another
            such output never comes to it: `takes` sees the inputs only, and a kernel that forgets
            that an attribute may ask for another dtype would fill memory of the wrong width.

    Attributes:
        kernel: What runs a call of the operator that it hangs on, as the reference kernel does:
            it hands on what this kernel refuses.
    """

    __slots__ = (
        "alone",
        "back_end",
        "enabled",
        "kernel",
        "large_only",
        "makes",
        "name",
        "packs",
        "plan",
        "run",
        "takes",
    )

    def __init__(
        self,
        back_end: BackEnd,
        name: str,
        takes: Callable[..., bool],
        *,
        plan: Callable[[Sequence[Any], Sequence[Any], Attrs], Bound] | None = None,
        run: Kernel | None = None,
        enabled: Callable[[], bool] = always,
        packs: bool = True,
        large_only: bool = False,
        alone: int = 0,
        makes: Collection[np.dtype[Any]] = (),
    ) -> None:
        assert plan is not None or run is not None, "a kernel has a plan, or runs without"
        self.back_end = back_end
        self.name = f"{back_end.value}.{name}"
        self.takes = takes
        self.plan = plan
        self.run = run
        self.enabled = enabled
        self.packs = packs
        self.large_only = large_only
        self.alone = alone
        self.makes = makes
        self.kernel: Kernel = self._not_hung

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def _not_hung(self, *args: Any, **attrs: Any) -> None:
        raise RefusedError(f"{self.name}: expected to hang on an operator")

    def fills(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> bool:
        """Whether it can fill outputs of these dtypes from these inputs."""
        known = [spec.dtype for spec in inputs]
        return all(spec.dtype in known or spec.dtype in self.makes for spec in outputs)

    def hung(self, *, single: bool, random: bool, after: Callable[..., Kernel]) -> Kernel:
        """Return what runs calls of an operator.

        Args:
            single: Whether the operator always has one output.
            random: Whether it may draw random numbers.
            after: ``after(fast, inputs, attrs, error)`` gives the kernel for what this one refused.
        """
        plan, run = self.plan, self.run

        def run_plan(xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
            outputs = (out,) if single else tuple(out)
            try:
                made, operands = plan(outputs, inputs, attrs)  # type: ignore[misc]  # there is one
            except RefusedError as error:
                after(self, inputs, attrs, error)(xp, out, *inputs, **attrs)
                return
            arrays = (*outputs, *inputs)
            if operands is not None:
                arrays = tuple([arrays[i] for i in operands])
            if random:
                made.run(*arrays, key=attrs.get("key"))
            else:
                made.run(*arrays)

        def run_at_once(xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
            try:
                run(xp, out, *inputs, **attrs)  # type: ignore[misc]  # there is one
            except RefusedError as error:
                after(self, inputs, attrs, error)(xp, out, *inputs, **attrs)

        return run_plan if run is None else run_at_once

    def cached(self, *, single: bool, after: Callable[..., Kernel]) -> Kernel:
        """Return what runs calls with inputs of the same specs and the same attributes.

        On contiguous arrays it runs the plan of the first such call, whose layouts are the same.

        Args:
            single: As for `hung`.
            after: As for `hung`.
        """
        plan, kernel = self.plan, self.kernel
        if plan is None or self.run is not None:
            return kernel
        bound: Bound | None = None

        def run_bound(xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
            nonlocal bound
            arrays = (out, *inputs) if single else (*out, *inputs)
            for x in arrays:
                if not x.flags.c_contiguous:
                    kernel(xp, out, *inputs, **attrs)
                    return
            if bound is None:
                outputs = arrays[: len(arrays) - len(inputs)]
                try:
                    bound = plan(outputs, inputs, attrs)
                except RefusedError as error:
                    after(self, inputs, attrs, error)(xp, out, *inputs, **attrs)
                    return
            made, operands = bound
            if operands is None:
                made.run(*arrays)
            else:
                made.run(*[arrays[i] for i in operands])

        return run_bound
