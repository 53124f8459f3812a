"""Shard: the values of one server of a ``dist_async`` store, and its request handlers.

Values are on a dedicated CPU device, so that updates do not queue behind the computation of the
server's rank.
"""

import logging
import pickle
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from gluonish.core.context import Context
from gluonish.core.errors import DistributedError
from gluonish.kvstore.arguments import Key
from gluonish.kvstore.compression import Compression, compression_from
from gluonish.ndarray import NDArray, array
from gluonish.ndarray.sparse import RowSparseNDArray, row_sparse_array
from gluonish.ndarray.sparse.selection import retain_rows
from gluonish.optimizer import Updater, get_updater

_LOG = logging.getLogger("gluonish")
_CONTEXT = Context("cpu", 1023)  # not used by programs


class Rows(NamedTuple):
    """A row-sparse array that is sent between ranks.

    Attributes:
        indices: Indices of the rows, int64, ascending.
        data: The rows.
        shape: Shape of the full array.
    """

    indices: Any
    data: Any
    shape: tuple[int, ...]

    def between(self, first: int, last: int) -> "Rows":
        """Return the rows with indices in [first, last), renumbered from 0."""
        mine = (self.indices >= first) & (self.indices < last)
        return Rows(self.indices[mine] - first, self.data[mine], (last - first, *self.shape[1:]))


class Packed(NamedTuple):
    """A compressed gradient that is sent between ranks.

    Attributes:
        data: Bytes from `Compression.pack`.
        shape: Shape of the gradient.
    """

    data: Any
    shape: tuple[int, ...]


class Settings(NamedTuple):
    """Optimizer settings for a rank's gradients; ``lr`` is None if a scheduler determines it."""

    rescale_grad: float
    wd: float
    lr: float | None


class Shard:
    """The weights that one server owns, by key, with their updater."""

    def __init__(self) -> None:
        self._values: dict[Key, NDArray] = {}
        self._updater: Updater | None = None
        self._compression: Compression | None = None

    def handle(self, kind: str, content: Any) -> Any:
        """Run the method ``_do_{kind}`` for a rank's request, and return the reply."""
        return getattr(self, f"_do_{kind}")(content)

    def _do_put(self, values: Mapping[Key, Any]) -> None:
        """Replace values."""
        for key, value in values.items():
            self._values[key] = _to_array(value)

    def _do_push(self, content: tuple[Mapping[Key, Any], Settings | None]) -> None:
        """Apply gradients, or replace values if there is no optimizer."""
        gradients, settings = content
        if self._updater is None:
            self._do_put({key: self._unpacked(value) for key, value in gradients.items()})
            return
        if settings is not None:
            optimizer = self._updater.optimizer
            optimizer.rescale_grad, optimizer.wd = settings.rescale_grad, settings.wd
            if settings.lr is not None:
                optimizer.lr = settings.lr
        for key, value in gradients.items():
            gradient = _to_array(self._unpacked(value))
            stored = self._value(key)
            self._updater(key, gradient, stored)
            stored.wait_to_read()  # so that errors are reported to this rank

    def _do_pull(self, keys: Sequence[Key]) -> dict[Key, Any]:
        return {key: _to_host(self._value(key)) for key in keys}

    def _do_pull_rows(self, requested: Mapping[Key, Any]) -> dict[Key, Rows]:
        """Return the requested rows of each key; the requested indices are sorted."""
        found = {}
        for key, numbers in requested.items():
            stored = self._value(key)
            if isinstance(stored, RowSparseNDArray):
                found[key] = _to_host(retain_rows(stored, numbers))
            else:
                found[key] = Rows(numbers, stored.asnumpy()[numbers], stored.shape)
        return found

    def _do_optimize(self, content: tuple[bytes, Mapping[Key, tuple[float, float]]]) -> None:
        """Set the optimizer, and each parameter's multipliers of learning rate and weight decay."""
        optimizer = pickle.loads(content[0])
        optimizer.param_dict = {
            key: SimpleNamespace(lr_mult=lr_mult, wd_mult=wd_mult)
            for key, (lr_mult, wd_mult) in content[1].items()
        }
        self._updater = get_updater(optimizer)

    def _do_compress(self, parameters: Mapping[str, Any]) -> None:
        self._compression = compression_from(parameters)

    def _do_command(self, content: tuple[int, str]) -> None:
        _LOG.info("kvstore: a server got command %s, which it does not know: %.200s", *content)

    def _do_finish(self, content: None) -> None:
        """Do nothing: the reply means that all earlier requests of this rank were served."""

    def _value(self, key: Key) -> NDArray:
        found = self._values.get(key)
        if found is None:
            raise DistributedError(f"expected a key initialized by init, got {key!r}")
        return found

    def _unpacked(self, value: Any) -> Any:
        if not isinstance(value, Packed):
            return value
        if self._compression is None:
            raise DistributedError("expected set_gradient_compression on all ranks, got none here")
        return self._compression.unpack(value.data, value.shape)


def _to_array(value: Any) -> NDArray:
    if isinstance(value, Rows):
        made: NDArray = row_sparse_array(
            (value.data, value.indices), shape=value.shape, ctx=_CONTEXT, dtype=value.data.dtype
        )
        return made
    return array(value, ctx=_CONTEXT, dtype=value.dtype)


def _to_host(value: NDArray) -> Any:
    if isinstance(value, RowSparseNDArray):
        return Rows(value.indices.asnumpy(), value.data.asnumpy(), value.shape)
    found: np.ndarray[Any, Any] = value.asnumpy()
    return found
