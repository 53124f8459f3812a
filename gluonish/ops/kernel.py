"""The contract between operators and the kernels of back ends.

Every operator has a *reference kernel*, which defines the result for any array. A `FastKernel`
computes the same result within round-off, for the inputs that it supports. It is registered on an
operator in one of two forms:

- ``plan(outputs, inputs, attrs)`` does the work that depends only on array layouts once, and
  returns a `Bound`: a `Plan` and the array behind each of its operands. An eager call builds (or
  finds) the plan and runs it once. A graph *attaches* it to slots in its memory, and runs the
  resulting `Attached` in every call.
- ``run(xp, out, *inputs, **attrs)`` does all its work in each call. A kernel with a plan may also
  have ``run``, for eager calls that are faster without building a plan.

Either may raise `RefusedError` before it writes anything, for an unsupported layout or a missing
library feature. The call then falls back to the next supporting kernel, in order of preference, and
finally to the reference kernel.

`gluonish.kernels.preference` defines the order of preference.
"""

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from gluonish.core.device import Platform
from gluonish.core.errors import GluonishError
from gluonish.core.spec import Shape, Spec

Array = npt.NDArray[Any]
Attrs = Mapping[str, Any]
Kernel = Callable[..., None]
T = TypeVar("T")
StridesRule = Callable[[int, Shape, Shape], bool]
Key = tuple[int, int]  # start of a call's random stream

# `array.ctypes.data` takes 1 us, more than the rest of a call's work per array. The data pointer is
# the first field of NumPy's array struct, right after the object header; a probe checks that, and
# falls back to the property.
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
    """A kernel cannot run on these arrays, although it supports their shapes and dtypes."""


class BackEnd(Enum):
    """The library that runs a kernel; the value is the prefix of the kernel's name."""

    NUMPY = "numpy"
    ONEDNN = "onednn"
    GENERATED = "generated"
    CUPY = "cupy"

    @property
    def platform(self) -> Platform:
        """The platform of the back end's devices."""
        return "gpu" if self is BackEnd.CUPY else "cpu"

    @property
    def has_team(self) -> bool:
        """Whether the back end's kernels run on the OpenMP team."""
        return self in (BackEnd.ONEDNN, BackEnd.GENERATED)

    @property
    def joins_calls(self) -> bool:
        """Whether consecutive calls can be joined into one; see `Joinable`."""
        return self in (BackEnd.ONEDNN, BackEnd.GENERATED)


class Attached(Protocol):
    """A plan bound to the slots of its operands; not reentrant."""

    def run(self, arrays: Sequence[Any]) -> None:
        """Run on the arrays in the slots."""

    def pack(self, arrays: Sequence[Any]) -> None:
        """Precompute data from constant operands."""


@runtime_checkable
class Joinable(Attached, Protocol):
    """An `Attached` that can be joined with its neighbours."""

    @classmethod
    def joined(cls, attached: Sequence[Any]) -> Attached:
        """Return one `Attached` that runs all of ``attached`` in order, without packing."""
        raise NotImplementedError


@runtime_checkable
class Mixable(Attached, Protocol):
    """An `Attached` that can be joined with neighbours of other kinds."""

    @property
    def is_native(self) -> bool:
        """Whether it can be joined."""
        raise NotImplementedError

    @classmethod
    def mixed(cls, attached: Sequence[Any]) -> Attached:
        """Return one `Attached` that runs all of ``attached`` in order, without packing."""
        raise NotImplementedError


class Plan(Protocol):
    """A prepared call for arrays of given layouts; thread-safe."""

    def run(self, *arrays: Any, key: Key | None = None) -> None:
        """Run on the operands; ``key`` is required by operators that draw random numbers."""

    def packing(self, constant: Collection[int]) -> Any:
        """Return the packing of the operands at these indices, which rarely change, or None."""

    def attach(
        self,
        operands: Sequence[int],
        arrays: Sequence[Any],
        movable: Collection[int],
        packing: Any = None,
    ) -> Attached:
        """Return the plan bound to memory.

        Args:
            operands: Index of each operand in the arrays passed to `Attached.run`.
            arrays: The current arrays.
            movable: Slots of arrays that may be reallocated before the next call.
            packing: The result of `packing`; None to compute everything in each run.
        """
        raise NotImplementedError


class Bound(NamedTuple):
    """A plan for one call of an operator.

    Attributes:
        plan: The plan.
        operands: Index of each operand among the operator's outputs and inputs, outputs first.
            None: the operands are the outputs and inputs in this order.
    """

    plan: Plan
    operands: Sequence[int] | None = None

    def order(self, arrays: Sequence[T]) -> Sequence[T]:
        """Reorder entries of outputs and inputs to match the operands."""
        return arrays if self.operands is None else [arrays[i] for i in self.operands]


def always() -> bool:
    """Return True; default of `FastKernel.enabled`."""
    return True


class FastKernel:
    """A back end's kernel for some inputs of an operator, with ``plan``, ``run`` or both.

    Args:
        name: Name within the back end, for profiles, messages and tests.
        supports: Predicate on input specs and attributes: whether the kernel supports them.
        plan: ``plan(outputs, inputs, attrs)``, with tuples of arrays, returns a `Bound`.
        run: ``run(xp, out, *inputs, **attrs)``, like the reference kernel.
        binds: Whether eager calls on contiguous arrays use the plan although there is ``run``.
        attach: ``attach(xp, operands, movable, attrs)`` returns an `Attached`, for a kernel without
            a plan whose ``run`` in a graph would prepare the same launch in each call; operands and
            movable as in `Plan.attach`.
        compiles: ``compiles(outputs, inputs, attrs)`` compiles ahead what ``run`` will need for
            arrays of these layouts, for a kernel without a plan.
        enabled: Checked at kernel selection; False disables the kernel.
        packs: Whether plans may precompute data from inputs that rarely change.
        large_only: Whether the kernel supports only inputs too large for the calling thread.
        serial_limit: Size of the largest input, in elements, up to which it runs on the calling
            thread without a team.
        makes: Output dtypes that the kernel can fill although no input has them. Calls with any
            other such output skip it: `supports` sees the inputs only, and a kernel that overlooks
            a dtype attribute would fill memory of the wrong width.
        overwrites: Whether the kernel may write over the input that the operator's ``overwrites``
            names.
        reads_strides: ``reads_strides(position, shape, strides)`` returns whether an input of a
            graph may be such a view, with strides in elements; None if all are to be contiguous.
        writes_strides: The same for the outputs.
        contiguous: Whether outputs must be contiguous: eager calls lay none out channels last.

    Attributes:
        kernel: The callable with the reference kernel's signature; falls back when this kernel
            raises `RefusedError`.
    """

    __slots__ = (
        "attach",
        "back_end",
        "binds",
        "compiles",
        "contiguous",
        "enabled",
        "kernel",
        "large_only",
        "makes",
        "name",
        "overwrites",
        "packs",
        "plan",
        "reads_strides",
        "run",
        "serial_limit",
        "supports",
        "writes_strides",
    )

    def __init__(
        self,
        back_end: BackEnd,
        name: str,
        supports: Callable[..., bool],
        *,
        plan: Callable[[Sequence[Any], Sequence[Any], Attrs], Bound] | None = None,
        run: Kernel | None = None,
        binds: bool = False,
        attach: Callable[[Any, Sequence[int], Collection[int], Attrs], Attached] | None = None,
        compiles: Callable[[Sequence[Any], Sequence[Any], Attrs], object] | None = None,
        enabled: Callable[[], bool] = always,
        packs: bool = True,
        large_only: bool = False,
        serial_limit: int = 0,
        makes: Collection[np.dtype[Any]] = (),
        overwrites: bool = True,
        reads_strides: StridesRule | None = None,
        writes_strides: StridesRule | None = None,
        contiguous: bool = False,
    ) -> None:
        assert plan is not None or run is not None, "a kernel needs plan or run"
        self.back_end = back_end
        self.name = f"{back_end.value}.{name}"
        self.supports = supports
        self.plan = plan
        self.run = run
        self.binds = binds or run is None
        self.attach = attach
        self.compiles = compiles
        self.enabled = enabled
        self.packs = packs
        self.large_only = large_only
        self.serial_limit = serial_limit
        self.makes = makes
        self.overwrites = overwrites
        self.reads_strides = reads_strides
        self.writes_strides = writes_strides
        self.contiguous = contiguous
        self.kernel: Kernel = self._not_registered

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def _not_registered(self, *args: Any, **attrs: Any) -> None:
        raise RefusedError(f"{self.name}: expected a kernel that is registered on an operator")

    def fills(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> bool:
        """Whether the kernel can fill outputs of these dtypes."""
        dtypes = [spec.dtype for spec in inputs]
        return all(spec.dtype in dtypes or spec.dtype in self.makes for spec in outputs)

    def make_kernel(self, *, single: bool, random: bool, fallback: Callable[..., Kernel]) -> Kernel:
        """Return a callable with the reference kernel's signature.

        Args:
            single: Whether the operator always has one output.
            random: Whether the operator may draw random numbers.
            fallback: ``fallback(fast, inputs, attrs, error)`` returns the kernel to run
                after this one raised ``error``.
        """
        plan, run = self.plan, self.run

        def run_plan(xp: Any, out: Any, *inputs: Any, **attrs: Any) -> None:
            outputs = (out,) if single else tuple(out)
            try:
                made, operands = plan(outputs, inputs, attrs)  # type: ignore[misc]  # not None here
            except RefusedError as error:
                fallback(self, inputs, attrs, error)(xp, out, *inputs, **attrs)
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
                run(xp, out, *inputs, **attrs)  # type: ignore[misc]  # not None here
            except RefusedError as error:
                fallback(self, inputs, attrs, error)(xp, out, *inputs, **attrs)

        return run_plan if run is None else run_at_once

    def cached(self, *, single: bool, fallback: Callable[..., Kernel]) -> Kernel:
        """Return a callable for calls with equal input specs and attributes.

        Contiguous arrays reuse the plan of the first such call. Arguments as for `make_kernel`.
        """
        plan, kernel, run = self.plan, self.kernel, self.run
        if plan is None or not self.binds:
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
                    # What has no plan may still run otherwise.
                    other = fallback(self, inputs, attrs, error) if run is None else kernel
                    other(xp, out, *inputs, **attrs)
                    return
            made, operands = bound
            if operands is None:
                made.run(*arrays)
            else:
                made.run(*[arrays[i] for i in operands])

        return run_bound
