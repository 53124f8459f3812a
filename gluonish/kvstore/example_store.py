"""TestStore: a minimal store for a Trainer, and an example of a custom store."""

from typing import Any

from gluonish.kvstore.base import KVStoreBase, check_capability
from gluonish.kvstore.device_sums import sum_arrays
from gluonish.kvstore.sparse import copy_over, sum_sparse
from gluonish.ndarray import NDArray


@KVStoreBase.register
class TestStore(KVStoreBase):
    """A stateless store that copies and sums within one process.

    It supports one key per call and cannot update weights, so a Trainer updates on each device.
    """

    __test__ = False  # MXNet's name, not a test class of pytest

    def broadcast(self, key: Any, value: NDArray, out: Any, priority: int = 0) -> None:
        """Copy a value into all of ``out``.

        Args:
            key: An int or a str; has no effect.
            value: NDArray to copy.
            out: NDArray or list of NDArrays.
            priority: Operations of higher priority run first.
        """
        for target in _list(out):
            copy_over(value, target, priority)

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Sum arrays, and copy the sum into all of ``out``.

        Args:
            key: An int or a str; has no effect.
            value: NDArray or list of NDArrays.
            out: NDArray or list of NDArrays; None for ``value`` itself.
            priority: Operations of higher priority run first.
        """
        values = _list(value)
        sparse = any(x.stype != "default" for x in values)
        context = values[0].context
        total = sum_sparse(values, context) if sparse else sum_arrays(values, context, priority)
        for target in values if out is None else _list(out):
            copy_over(total, target, priority)

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Return False for `OPTIMIZER`.

        Args:
            capability: Name of the capability.

        Raises:
            ArgumentError: There is no such capability.
        """
        return check_capability(capability) != KVStoreBase.OPTIMIZER

    @property
    def type(self) -> str:
        """``"teststore"``."""
        return "teststore"

    @property
    def rank(self) -> int:
        """Index of this process: 0, as there is only one."""
        return 0

    @property
    def num_workers(self) -> int:
        """Number of processes: 1."""
        return 1


def _list(arrays: Any) -> list[NDArray]:
    return list(arrays) if isinstance(arrays, list | tuple) else [arrays]
