"""SyncBatchNorm in training on several devices, of one process or several: statistics of the whole
batch, in every device.

Each device sums over its part; the sums meet (`gluonish.ndarray.rendezvous`), and everything else
is ordinary operators, so that the tape differentiates it. The meeting's own gradient is another
one of its kind: the mean over all devices of the gradients that the devices bring.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from gluonish.core.errors import OperatorError
from gluonish.ndarray import recording
from gluonish.ndarray.copying import copy_into
from gluonish.ndarray.ndarray import NDArray, empty_like_spec
from gluonish.ndarray.recording import RECORDING, TRAINING, Leaf, Node, freed_error, moment
from gluonish.ndarray.rendezvous import Member, Rendezvous
from gluonish.ops.contrib.sync_batch_norm import SYNC_BATCH_NORM
from gluonish.ops.elementwise.cast import cast
from gluonish.ops.elementwise.unary import RSQRT
from gluonish.ops.normalization.batch_norm import move
from gluonish.ops.reductions.reduction import sum_
from gluonish.ops.registry import Attrs
from gluonish.ops.shape.reshape import reshape
from gluonish.ops.support.across_ranks import ranks_sum
from gluonish.ops.support.precision import accumulator

_places: dict[tuple[str, str, int], Rendezvous] = {}


class _MeanNode:
    """One device's part in a mean over all devices, on the tape."""

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

    own_gradient = False
    writes_gradients: ClassVar[bool] = False

    def __init__(self, part: NDArray, weight: int) -> None:
        self.parents: Sequence[tuple[Node | Leaf, int] | None] = (part._link,)
        self.output_count = 1
        self.made = moment()
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
        """Return the mean of what all devices bring, which their backward passes do in turn."""
        if self.gradients is None:
            raise freed_error()
        return [None if g is None else _mean(self.gradients, g, self.weight) for g in grads]

    def free(self) -> None:
        """Drop where the devices meet, and the parent.

        The gradients that were made of this are still to come, though nothing may hold the node.
        """
        if self.member is not None:
            self.member.want()
        self.gradients = self.member = None
        self.parents = ()
        self.freed = moment()


def _mean(place: Rendezvous, part: NDArray, weight: int) -> NDArray:
    """Return the sum of all devices' parts over the sum of their weights, on this device."""
    recorded = bool(recording.mode.get() & RECORDING) and part._link is not None
    node = _MeanNode(part, weight) if recorded else None
    met = place.join(part.detach(), weight, node)
    result = empty_like_spec(part._spec, part._device, type(part))
    # Detached: what the engine keeps until all have come must not keep the tape.
    copy_into(met.total, result.detach())
    if node is not None:
        node.gradients, node.member = met.gradients, met.members[part._device]
        result._link = (node, 0)
    return result


def normalize_together(inputs: Sequence[NDArray], attrs: Attrs, out: Any) -> Any:
    """Run SyncBatchNorm on one of several devices or processes; this is what eager calls ask first.

    Args:
        inputs: data (N, C, ...), gamma, beta, moving_mean and moving_var (C,).
        attrs: The operator's.
        out: Not taken, as the result is recorded.

    Returns:
        The output, or a list of output, mean and variance; NotImplemented for a call that one
        device does alone.

    Raises:
        OperatorError: ``out`` was given, or a device did not come (see `Rendezvous.join`).
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
    mean = _mean(_place("mean", attrs), sum_(wide, axis=axes), weight)
    centred = wide - reshape(mean, shape)
    variance = _mean(_place("variance", attrs), sum_(centred * centred, axis=axes), weight)
    scale = RSQRT(variance + attrs["eps"])
    scale = scale * (gamma * 0.0 + 1.0 if attrs["fix_gamma"] else gamma)
    result = cast(centred * reshape(scale, shape) + reshape(beta, shape), data.dtype)
    for moving, new in ((moving_mean, mean), (moving_var, variance)):
        follow = partial(_follow, new.detach(), attrs["momentum"])
        moving._write(follow, [moving, new], SYNC_BATCH_NORM.name)
    return [result, mean, variance] if attrs["output_mean_var"] else result


def _follow(new: NDArray, momentum: float, moving: Any) -> None:
    move(moving, new._data, momentum)


def _place(what: str, attrs: Attrs) -> Rendezvous:
    """Return where the calls of a layer meet."""
    key = (what, attrs["key"], attrs["ndev"])
    found = _places.get(key)
    if found is None:
        made = Rendezvous(SYNC_BATCH_NORM.name, f"key {attrs['key']!r}, {what}", attrs["ndev"])
        found = _places.setdefault(key, made)
    return found


SYNC_BATCH_NORM.divert(normalize_together)
