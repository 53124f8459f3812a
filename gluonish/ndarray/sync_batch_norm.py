"""SyncBatchNorm in training: batch statistics over several devices and processes.

Each device sums over its slice of the batch, `gluonish.ndarray.rendezvous` computes the mean over
all devices, and the rest is ordinary operators that the tape differentiates. The gradient of the
mean is the mean of the devices' gradients, by another rendezvous.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from gluonish.core.errors import OperatorError
from gluonish.ndarray import recording
from gluonish.ndarray.copying import copy_into
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, TRAINING, Leaf, Node, freed_error, timestamp
from gluonish.ndarray.rendezvous import Member, Rendezvous
from gluonish.ops.contrib.sync_batch_norm import SYNC_BATCH_NORM
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import RSQRT
from gluonish.ops.normalization.batch_norm import update_moving
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.across_ranks import ranks_sum
from gluonish.ops.support.precision import accumulator

_rendezvous: dict[tuple[str, str, int], Rendezvous] = {}


class _MeanNode:
    """The tape node of a mean over all devices, on one device."""

    __slots__ = (
        "__weakref__",
        "freed",
        "gradients",
        "made",
        "member",
        "output_count",
        "parents",
        "weight",
    )

    ignores_head_gradient = False
    writes_gradients: ClassVar[bool] = False

    def __init__(self, value: NDArray, weight: int) -> None:
        self.parents: Sequence[tuple[Node | Leaf, int] | None] = (value._edge,)
        self.output_count = 1
        self.made = timestamp()
        self.freed: float = math.inf
        self.weight = weight
        self.gradients: Rendezvous | None = None
        self.member: Member | None = None

    def backward(
        self,
        grads: Sequence[NDArray | None],
        targets: Sequence[NDArray | None] = (),
        *,
        last: bool = False,
    ) -> Sequence[NDArray | None]:
        """Return the mean of all devices' gradients; each call contributes this device's."""
        if self.gradients is None:
            raise freed_error()
        return [None if g is None else _mean(self.gradients, g, self.weight) for g in grads]

    def free(self) -> None:
        """Drop the rendezvous and the parent.

        Gradients that were returned may still be pending when the node is deleted, so its
        contribution stays in the round.
        """
        if self.member is not None:
            self.member.retain()
        self.gradients = self.member = None
        self.parents = ()
        self.freed = timestamp()


def _mean(rendezvous: Rendezvous, value: NDArray, weight: int) -> NDArray:
    """Return the sum of all devices' contributions over the sum of their weights."""
    recorded = bool(recording.mode.get() & RECORDING) and value._edge is not None
    node = _MeanNode(value, weight) if recorded else None
    met = rendezvous.join(value.detach(), weight, node)
    result = empty_like_spec(value._spec, value._device, type(value))
    # Detached: the engine holds the copy until all devices have joined, and must not hold the tape.
    copy_into(met.total, result.detach())
    if node is not None:
        node.gradients, node.member = met.gradients, met.members[value._device]
        result._edge = (node, 0)
    return result


def normalize_together(inputs: Sequence[NDArray], attrs: Attrs, out: Any) -> Any:
    """Run SyncBatchNorm on one of several devices or processes; overrides the eager call.

    Args:
        inputs: data (N, C, ...), gamma, beta, moving_mean and moving_var (C,).
        attrs: The operator's attributes.
        out: Must be None, as the result is recorded.

    Returns:
        The output, or a list of output, mean and variance; NotImplemented on a single device.

    Raises:
        OperatorError: ``out`` is not None, or a device did not join (see `Rendezvous.join`).
    """
    if attrs["use_global_stats"] or not recording.mode.get() & TRAINING:
        return NotImplemented
    if attrs["ndev"] == 1 and ranks_sum() is None:
        return NotImplemented
    if out is not None:
        raise OperatorError(
            f"{SYNC_BATCH_NORM.name}: expected no out with ndev > 1 or several processes, got one"
        )
    data, gamma, beta, moving_mean, moving_var = inputs
    wide = cast(data, accumulator(data.dtype))
    axes = (0, *range(2, len(data.shape)))
    shape = (1, data.shape[1], *(1,) * (len(data.shape) - 2))
    weight = wide._spec.size // max(1, data.shape[1])
    mean = _mean(_rendezvous_of("mean", attrs), sum_(wide, axis=axes), weight)
    centred = wide - reshape(mean, shape)
    variance = _mean(_rendezvous_of("variance", attrs), sum_(centred * centred, axis=axes), weight)
    scale = RSQRT(variance + attrs["eps"])
    scale = scale * (gamma * 0.0 + 1.0 if attrs["fix_gamma"] else gamma)
    result = cast(centred * reshape(scale, shape) + reshape(beta, shape), data.dtype)
    for moving, new in ((moving_mean, mean), (moving_var, variance)):
        follow = partial(_follow, new.detach(), attrs["momentum"])
        moving._write(follow, [moving, new], SYNC_BATCH_NORM.name)
    return [result, mean, variance] if attrs["output_mean_var"] else result


def _follow(new: NDArray, momentum: float, moving: Any) -> None:
    update_moving(moving, new._data, momentum)


def _rendezvous_of(what: str, attrs: Attrs) -> Rendezvous:
    """Return the rendezvous of a layer's statistic."""
    key = (what, attrs["key"], attrs["ndev"])
    found = _rendezvous.get(key)
    if found is None:
        made = Rendezvous(SYNC_BATCH_NORM.name, f"key {attrs['key']!r}, {what}", attrs["ndev"])
        found = _rendezvous.setdefault(key, made)
    return found


SYNC_BATCH_NORM.override(normalize_together)
