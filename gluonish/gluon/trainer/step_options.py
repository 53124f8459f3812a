"""Options of a Trainer's steps: gradients added over several steps, and a limit of their norm."""

import math
import warnings
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import gluonish.ndarray as nd
from gluonish.autograd import pause
from gluonish.core.errors import ArgumentError
from gluonish.gluon.parameter import Parameter
from gluonish.gluon.trainer.trainables import Selection
from gluonish.ndarray import NDArray
from gluonish.ndarray.sparse import RowSparseNDArray

_CALLER = 5  # stack level of the call of `Trainer.step` in the warning


class StepGroups:
    """Groups of calls of `Trainer.step`, of which the last one updates the weights.

    Args:
        size: Number of calls in a group, 2 or more.
    """

    __slots__ = ("_calls", "_samples", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._calls = 0
        self._samples = 0.0

    def samples(self, count: float) -> float:
        """Return the samples of the group if a call completes it, else 0.

        Args:
            count: The samples of the call.
        """
        self._calls += 1
        self._samples += count
        if self._calls < self._size:
            return 0.0
        count, self._calls, self._samples = self._samples, 0, 0.0
        return count

    @property
    def is_open(self) -> bool:
        """Whether gradients wait for the update of their group."""
        return self._calls > 0

    def rest(self) -> float:
        """Return the samples of an incomplete group, and end it; 0 if there is none."""
        count, self._calls, self._samples = self._samples, 0, 0.0
        return count

    @property
    def state(self) -> tuple[int, float]:
        """Number of calls in the incomplete group, and of their samples."""
        return self._calls, self._samples

    @state.setter
    def state(self, value: tuple[int, float]) -> None:
        self._calls, self._samples = value

    def refuse_parts(self, what: str) -> None:
        """Refuse a method that does part of a step.

        Raises:
            ArgumentError: Always.
        """
        raise ArgumentError(f"Trainer.{what}: expected accumulate=1, got {self._size}; call step")

    def end(self, members: Iterable[tuple[int, Parameter]]) -> None:
        """Zero the gradients of parameters after an update."""
        for _, parameter in members:
            parameter.zero_grad()


def step_groups(accumulate: int) -> StepGroups | None:
    """Return the groups of calls of a Trainer; None if each call updates the weights.

    Args:
        accumulate: Number of calls in a group.

    Raises:
        ArgumentError: ``accumulate`` is not an int of 1 or more.
    """
    if not isinstance(accumulate, int) or accumulate < 1:
        raise ArgumentError(f"Trainer: expected accumulate of 1 or more, got {accumulate!r}")
    return None if accumulate == 1 else StepGroups(accumulate)


def update_outside_store(
    update_on_kvstore: bool | None, shards: bool, accumulate: int, max_norm: float | None
) -> bool | None:
    """Return ``update_on_kvstore`` of a Trainer, False if its options need that.

    Raises:
        ArgumentError: The options exclude each other, or the norm is not above 0.
    """
    if max_norm is not None and not (isinstance(max_norm, int | float) and max_norm > 0):
        raise ArgumentError(f"Trainer: expected clip_global_norm above 0, got {max_norm!r}")
    if max_norm is not None and shards:
        raise ArgumentError(
            "Trainer: expected clip_global_norm without shard_optimizer_states, which sums no "
            "gradient in full, got both"
        )
    if max_norm is None and accumulate == 1:
        return update_on_kvstore
    if update_on_kvstore:
        raise ArgumentError(
            "Trainer: expected update_on_kvstore of False or None with accumulate or "
            "clip_global_norm, got True"
        )
    return False


class StepOptions(ExitStack):
    """Scope in which a Trainer has other options; at its end it has its own again.

    Args:
        trainer: The Trainer.
        accumulate: As for `Trainer`; 1 leaves it as it is.
        max_norm: ``clip_global_norm`` of `Trainer`; None leaves it as it is.
        max_value: ``clip_gradient`` of the optimizer; None leaves it as it is.

    Raises:
        ArgumentError: The Trainer's own options exclude these.
    """

    def __init__(
        self,
        trainer: Any,
        accumulate: int = 1,
        max_norm: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        self._trainer = trainer
        self._max_value = max_value
        self._accumulate = accumulate
        self._max_norm = max_norm
        self._changes = accumulate > 1 or max_norm is not None or max_value is not None
        if not self._changes:
            return
        if accumulate > 1 and trainer._groups is not None:
            raise ArgumentError(
                f"fit: expected accumulate=1 with a Trainer that accumulates, got {accumulate}"
            )
        if trainer._update_on_kvstore or trainer._kvstore_params["update_on_kvstore"]:
            raise ArgumentError(
                "fit: expected a Trainer with update_on_kvstore=False for accumulate or clipping, "
                "got one whose store updates the weights"
            )
        update_outside_store(False, trainer._shards, accumulate, max_norm)
        store = trainer._kvstore_params["kvstore"]
        refuse_independent_clipping(max_norm, store, len(trainer._contexts))

    def __enter__(self) -> "StepOptions":
        trainer = self._trainer
        if self._accumulate > 1:
            self._set(trainer, "_groups", step_groups(self._accumulate))
            for parameter in trainer._params:
                if parameter.grad_req == "write":
                    self._set(parameter, "grad_req", "add")
        if self._max_norm is not None:
            self._set(trainer, "_max_norm", self._max_norm)
        if self._max_value is not None:
            before = trainer.optimizer.clip_gradient
            self.callback(lambda: setattr(trainer.optimizer, "clip_gradient", before))
            trainer.optimizer.clip_gradient = self._max_value
        if self._changes and not trainer._kv_initialized:
            trainer._kvstore_params["update_on_kvstore"] = False
        return self

    def _set(self, owner: Any, name: str, value: Any) -> None:
        self.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)


def refuse_independent_clipping(max_norm: float | None, store: object, devices: int) -> None:
    """Refuse a limit of the norm for devices that update their weights independently.

    Raises:
        ArgumentError: There are several devices, a limit, and no store.
    """
    if max_norm is not None and store is None and devices > 1:
        raise ArgumentError(
            f"Trainer: expected a kvstore, which sums the gradients of {devices} devices, with "
            "clip_global_norm, got None"
        )


def clip_factor(selection: Selection, scale: float, max_norm: float) -> float:
    """Return the factor that limits the norm of scaled gradients; waits for them.

    Args:
        selection: The parameters; their gradients are summed over all devices.
        scale: The factor of the gradients in the update.
        max_norm: The largest norm.

    Warns:
        UserWarning: The norm is infinite or NaN; the factor is then 1.
    """
    arrays = [_values(g) for g in selection.gradients[0]]
    with pause():
        squares = nd.multi_sum_sq(*arrays, num_arrays=len(arrays))
        norm = math.sqrt(float(squares.sum().asscalar())) * abs(scale)
    if not math.isfinite(norm):
        warnings.warn(
            f"Trainer: expected gradients of a finite norm, got {norm}; they are not clipped",
            UserWarning,
            stacklevel=_CALLER,
        )
        return 1.0
    return min(1.0, max_norm / (norm + 1e-8))  # MXNet's epsilon


def _values(gradient: NDArray) -> NDArray:
    """Return a gradient's values, of a row-sparse one those that it stores."""
    if isinstance(gradient, RowSparseNDArray):
        values: NDArray = gradient.data
        return values
    return gradient
