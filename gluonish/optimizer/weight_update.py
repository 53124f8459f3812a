"""WeightUpdate: the step of a rule on several weights as one engine operation, bound to arrays.

A `WeightUpdate` is created once for weights that are not reallocated: work that depends only on the
arrays (checks, addresses, engine variables) is done in the constructor, and a step is one push.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from gluonish.core.device import Device
from gluonish.core.errors import DeviceError, OperatorError
from gluonish.core.program import Program
from gluonish.core.spec import Spec
from gluonish.engine import submit
from gluonish.kernels.back_ends import fused_step
from gluonish.kernels.fused_updates import Column, FusedStep, GatedStep
from gluonish.kernels.loss_scale import Gate
from gluonish.ndarray import NDArray, recording
from gluonish.ndarray.copying import gather_on_cpu
from gluonish.ndarray.ndarray import LIGHT_INLINE_SIZE
from gluonish.ndarray.recording import RECORDING
from gluonish.ops.updates.multi_update import MULTI_UPDATES
from gluonish.ops.updates.rules import Rule, apply_rule
from gluonish.ops.updates.update import check_arrays

__all__ = ["BoundUpdate", "Column", "Rates", "WeightUpdate", "each"]

Rates = Program[tuple[Column, Column]]

# Up to this many elements a fused kernel runs in the calling thread if that owns the thread team:
# 0.1 ms of work on two cores.
_SMALL_SIZE = 1 << 19

# The ordinary operator of a rule overrides its preloaded variant; some rules have no multi-weight
# operator.
_NAMES = {(multi.rule, multi.mixed): multi.name for multi in reversed(MULTI_UPDATES)}


class BoundUpdate(Protocol):
    """A step for weights that are not reallocated, which can be pushed repeatedly.

    Attributes:
        rates: Learning rates and weight decays of the last step, with multipliers.
    """

    rates: Rates | None

    def push(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Push the step to the engine, with the columns of rates and the rule's scalars."""


class WeightUpdate:
    """A rule bound to weights, gradients and states on one device.

    Args:
        rule: The rule.
        groups: For each weight its arrays: weight, gradient, states, and the float32 weight if
            ``mixed``.
        mixed: Whether the weights are 16-bit with float32 copies.

    Raises:
        OperatorError: Shapes or dtypes do not match.
        DeviceError: The arrays are on several devices.

    Attributes:
        rates: Learning rates and weight decays of the last step, with multipliers.
    """

    __slots__ = (
        "_arrays",
        "_device",
        "_fused",
        "_groups",
        "_mixed",
        "_name",
        "_on_team",
        "_reads",
        "_rule",
        "_small",
        "_writes",
        "rates",
    )

    def __init__(self, rule: Rule, groups: Sequence[Sequence[NDArray]], mixed: bool) -> None:
        precision = "_mp" if mixed else ""
        self._name = _NAMES.get((rule, mixed)) or f"_multi{precision}_{rule.name}_update"
        self._rule = rule
        self._mixed = mixed
        self._device = device = groups[0][0]._device
        self._groups = [_on_device(self._name, group, device) for group in groups]
        for group in self._groups:
            _check_group(self._name, rule, [array._spec for array in group], mixed)
        self._arrays = [[array._data for array in group] for group in self._groups]
        self._reads = tuple(array._var for group in self._groups for array in group)
        written = (array for group in self._groups for array in (group[0], *group[2:]))
        self._writes = tuple(array._var for array in written)
        # A repeated weight is updated repeatedly, in order.
        self._fused: FusedStep | None = None
        if len(set(self._writes)) == len(self._writes):
            outs = [arrays[0] for arrays in self._arrays]
            self._fused = fused_step(device, rule, outs, self._arrays, mixed)
        size = sum(group[0].size for group in self._groups)
        on_cpu = self._fused is not None and not device.streams
        self._on_team = on_cpu and size > LIGHT_INLINE_SIZE
        self._small = size <= (_SMALL_SIZE if self._on_team else LIGHT_INLINE_SIZE)
        self.rates: Rates | None = None

    def push(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        """Push the update of the weights to the engine.

        Args:
            columns: For each of the rule's rates the numbers of the weights. Columns are never
                mutated; an identical object means equal numbers.
            scalars: The rule's scalars, with rescale_grad and clip_gradient.

        Raises:
            AutogradError: A weight belongs to a recorded graph.
        """
        run = self._run_reference if self._fused is None else self._fused.run
        self._submit(partial(run, columns, scalars), self._reads)

    @property
    def gradients(self) -> list[NDArray]:
        """The gradients of the weights."""
        return [group[1] for group in self._groups]

    @property
    def is_gated(self) -> bool:
        """Whether `push_gated` can be used."""
        return isinstance(self._fused, GatedStep)

    def push_gated(
        self,
        gate: Gate,
        state: NDArray,
        columns: Sequence[Sequence[Column]],
        scalars: Mapping[str, float],
    ) -> None:
        """Push the update, which the device skips if the step overflows.

        Args:
            gate: The number of the update; see `GatedStep.run_gated`.
            state: The state of the loss scale.
            columns: The rates of this number, and of the numbers before it.
            scalars: As for `push`.

        Raises:
            AutogradError: A weight belongs to a recorded graph.
        """
        assert isinstance(self._fused, GatedStep)
        run = partial(self._fused.run_gated, gate, columns, scalars)
        self._submit(run, (*self._reads, state._var))

    def _submit(self, run: Callable[[], None], reads: tuple[Any, ...]) -> None:
        if recording.mode.get() & RECORDING:
            for group in self._groups:
                group[0]._check_writable(self._name)
        submit(
            run,
            reads,
            self._writes,
            self._device.lane,
            self._name,
            small=self._small,
            on_team=self._on_team,
        )

    def _run_reference(self, columns: Sequence[Column], scalars: Mapping[str, float]) -> None:
        xp, rule, mixed = self._device.xp, self._rule, self._mixed
        for i, arrays in enumerate(self._arrays):
            rates = [column[i] if isinstance(column, Sequence) else column for column in columns]
            apply_rule(xp, rule, arrays[0], arrays, mixed, rates, scalars)


def _check_group(name: str, rule: Rule, specs: Sequence[Spec], mixed: bool) -> None:
    """Check the arrays of a weight, whose states may have shapes of their own.

    Raises:
        OperatorError: Their shapes or dtypes do not match.
    """
    if rule.state_shapes is not None:
        shapes = rule.state_shapes(specs[0].shape)
        states = specs[2 : 2 + len(shapes)]
        if tuple(spec.shape for spec in states) != shapes:
            raise OperatorError(
                f"{name}: expected states of shapes {shapes} for a weight of shape "
                f"{specs[0].shape}, got {tuple(spec.shape for spec in states)}"
            )
        same = [Spec(specs[0].shape, spec.dtype) for spec in states]
        specs = [*specs[:2], *same, *specs[2 + len(shapes) :]]
    check_arrays(name, specs, mixed)


def each(function: Callable[..., float], *columns: Column) -> Column:
    """Map a function over columns; the result is a single number if all columns are."""
    lists = [column for column in columns if isinstance(column, Sequence)]
    if not lists:
        return function(*columns)
    count = len(lists[0])
    full = [column if isinstance(column, Sequence) else [column] * count for column in columns]
    return list(map(function, *full))


def _on_device(name: str, group: Sequence[NDArray], device: Device) -> Sequence[NDArray]:
    """Return a weight's arrays on one device; a gradient in other host memory is copied."""
    if all(array._device is device for array in group):
        return group
    copied = gather_on_cpu(group)
    if copied is None or any(
        new is not old for i, (new, old) in enumerate(zip(copied, group, strict=True)) if i != 1
    ):
        devices = ", ".join(str(array.context) for array in group)
        raise DeviceError(
            f"{name}: expected arrays on one device, got {devices}; move them with as_in_context"
        )
    return copied
