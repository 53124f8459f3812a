"""Averages of a network's weights over training: WeightAverage, and statistics of BatchNorm."""

from collections.abc import Iterable
from types import TracebackType
from typing import Any

import gluonish.ndarray as nd
from gluonish.autograd import pause, train_mode
from gluonish.core.dtype import is_floating
from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.core.number_check import check_numbers
from gluonish.core.object_repr import default_repr
from gluonish.gluon.block import Block
from gluonish.gluon.parameter import Parameter
from gluonish.ndarray import NDArray

__all__ = ["WeightAverage", "update_batch_norm"]

_COUNT = "num_updates"


class WeightAverage:
    """A running average of all parameters of a network, with which it usually predicts better.

    Call `update` after each step of the Trainer (EMA), or at the end of each epoch (SWA). The first
    update copies the parameters. Then, with a decay, ``average = decay * average + (1 - decay) *
    weight`` (exponential moving average); with ``decay=None`` the average is the mean of all
    updates (stochastic weight averaging). Running statistics of BatchNorm are averaged, too; after
    SWA, compute them anew by `update_batch_norm`. Averages are on the first device, those of 16
    bits in float32.

    Args:
        net: The network.
        decay: Decay rate of the average, in [0, 1); None for the mean of all updates.

    Attributes:
        num_updates: Number of updates so far.

    Raises:
        ArgumentError: ``decay`` is not in [0, 1).
        ArgumentTypeError: ``net`` is not a Block, or ``decay`` not a number.

    References:
        P. Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization",
        2018.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
        >>> net.initialize(mx.init.One())
        >>> average = mx.gluon.utils.WeightAverage(net, decay=0.75)
        >>> average.update()
        >>> net.weight.set_data(mx.nd.array([[5]]))
        >>> average.update()
        >>> with average.applied():
        ...     print(float(net.weight.data().asscalar()))
        2.0
        >>> float(net.weight.data().asscalar())
        5.0
    """

    __repr__ = default_repr

    def __init__(self, net: Block, decay: float | None = 0.999) -> None:
        if not isinstance(net, Block):
            raise ArgumentTypeError(f"WeightAverage: expected a Block, got {type(net).__name__}")
        if decay is not None:
            check_numbers("WeightAverage", decay=decay)
            if not 0 <= decay < 1:
                raise ArgumentError(f"WeightAverage: expected decay in [0, 1), got {decay}")
        self.net = net
        self.decay = decay
        self.num_updates = 0
        self._averages: dict[str, NDArray] = {}

    @property
    def values(self) -> dict[str, NDArray]:
        """The averages by structural name, empty before the first update; not copies."""
        return dict(self._averages)

    def _params(self) -> dict[str, Parameter]:
        return self.net._collect_params_with_prefix()

    def update(self) -> None:
        """Take account of the current parameters, which must be initialized."""
        share = 1 / (self.num_updates + 1) if self.decay is None else 1 - self.decay
        with pause():
            for name, param in self._params().items():
                data = param.list_data()[0]
                average = self._averages.get(name)
                if average is None or not is_floating(data._spec.dtype):
                    self._averages[name] = _copied(data)
                else:
                    average *= 1 - share
                    average += data.astype(average.dtype, copy=False) * share
        self.num_updates += 1

    def copy_to(self, net: Block) -> None:
        """Set the parameters of a network to the averages.

        Args:
            net: The network, of the same structure; it may be the one that is averaged.

        Raises:
            ArgumentError: There was no update yet, or the names of parameters differ.
        """
        params = net._collect_params_with_prefix()
        if not self.num_updates:
            raise ArgumentError("WeightAverage: expected an update before its use, got none")
        if params.keys() != self._averages.keys():
            differing = sorted(params.keys() ^ self._averages.keys())
            raise ArgumentError(
                f"WeightAverage: expected a network of the same parameters, got others: {differing}"
            )
        for name, param in params.items():
            param.set_data(self._averages[name].astype(param.dtype))

    def applied(self) -> "_Applied":
        """Return a context manager, in which the network has the averages as its parameters.

        At the end the network has its own again, and changes made inside are lost.

        Raises:
            ArgumentError: There was no update yet.
        """
        return _Applied(self)

    def save(self, fname: str) -> None:
        """Save the averages and their number of updates.

        Args:
            fname: Path of the file; its extension selects the format, as in `nd.save`.
        """
        count = nd.array([self.num_updates], dtype="int64")
        nd.save(fname, {**self._averages, _COUNT: count})

    def load(self, fname: str) -> None:
        """Continue from a file of `save`.

        Args:
            fname: Path of the file.

        Raises:
            FileFormatError: The file does not have averages of this network.
        """
        found = nd.load(fname)
        if not isinstance(found, dict) or _COUNT not in found:
            raise FileFormatError(f"{fname}: expected a file of WeightAverage.save, got another")
        count, params = found.pop(_COUNT), self._params()
        if found and found.keys() != params.keys():
            raise FileFormatError(
                f"{fname}: expected averages of {sorted(params)}, got {sorted(found)}"
            )
        for name, average in found.items():
            if average.shape != params[name].shape:
                raise FileFormatError(
                    f"{fname}: expected {name} of shape {params[name].shape}, got {average.shape}"
                )
        self.num_updates = int(count.asscalar())
        self._averages = {
            name: average.as_in_context(params[name].list_ctx()[0])
            for name, average in found.items()
        }


class _Applied:
    """The scope of `WeightAverage.applied`."""

    def __init__(self, average: WeightAverage) -> None:
        self._average = average
        # One for each scope that is open: the arrays of all devices, whose statistics may differ.
        self._own: list[dict[str, list[NDArray]]] = []

    def __enter__(self) -> WeightAverage:
        params = self._average._params()
        own = {name: [x.copy() for x in param.list_data()] for name, param in params.items()}
        self._average.copy_to(self._average.net)
        self._own.append(own)
        return self._average

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        params = self._average._params()
        with pause():
            for name, copies in self._own.pop().items():
                for array, values in zip(params[name].list_data(), copies, strict=True):
                    array[:] = values


def _copied(data: NDArray) -> NDArray:
    """Return a copy of a parameter, in float32 if it has a floating type of fewer bits."""
    dtype = data._spec.dtype
    return data.astype("float32") if is_floating(dtype) and dtype.itemsize < 4 else data.copy()


def update_batch_norm(net: Block, batches: Iterable[Any]) -> None:
    """Compute the running statistics of BatchNorm layers anew, as means over batches.

    Weights that were averaged need it, since statistics of other weights do not fit them. Means and
    variances of all batches have equal weight. Layers with ``use_global_stats`` are left as they
    are.

    Args:
        net: The network, whose parameters are initialized.
        batches: An iterable, such as a DataLoader, of inputs, or of lists whose first element is
            the input.

    Raises:
        ArgumentError: There are no batches.

    Example:
        >>> import gluonish as mx
        >>> net = mx.gluon.nn.BatchNorm(in_channels=1)
        >>> net.initialize()
        >>> batches = [mx.nd.array([[1], [3]]), mx.nd.array([[5], [7]])]
        >>> mx.gluon.utils.update_batch_norm(net, batches)
        >>> float(net.running_mean.data().asscalar()), float(net.running_var.data().asscalar())
        (4.0, 1.0)
    """
    layers: list[Any] = []
    net.apply(lambda block: layers.append(block) if _has_statistics(block) else None)
    if not layers:
        return
    statistics = [(x.running_mean, x.running_var, 1 - x._kwargs["momentum"]) for x in layers]
    if any(not share for _, _, share in statistics):
        raise ArgumentError("update_batch_norm: expected a momentum below 1 of each BatchNorm")
    sums: list[list[NDArray]] = []
    count = 0
    for batch in batches:
        for mean, var, _ in statistics:
            for param in (mean, var):
                param.set_data(nd.zeros(param.shape, dtype=param.dtype))
        inputs = batch[0] if isinstance(batch, list | tuple) else batch
        with pause(), train_mode():
            net(inputs.as_in_context(statistics[0][0].list_ctx()[0]))
        found = [[p.list_data()[0] / share for p in (mean, var)] for mean, var, share in statistics]
        sums = (
            found
            if not count
            else [
                [total + new for total, new in zip(*pair, strict=True)]
                for pair in zip(sums, found, strict=True)
            ]
        )
        count += 1
    if not count:
        raise ArgumentError("update_batch_norm: expected one batch or more, got none")
    for (mean, var, _), totals in zip(statistics, sums, strict=True):
        for param, total in zip((mean, var), totals, strict=True):
            param.set_data(total / count)


def _has_statistics(block: Any) -> bool:
    kwargs = getattr(block, "_kwargs", {})
    is_norm = hasattr(block, "running_mean") and "momentum" in kwargs
    return is_norm and not kwargs.get("use_global_stats")
