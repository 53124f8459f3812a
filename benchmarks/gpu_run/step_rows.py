"""Rows of steps of whole networks, each in a process of its own, so that its peak of memory is its.

Those in float32 without tensor cores leave compiling out.
"""

import functools

from benchmarks.gpu_run import bert, lstm, networks
from benchmarks.gpu_run.rows import Body, Table

_LIMIT_S = 130


class Steps:
    """Adds rows of steps to a table; with ours as CUDA graphs, where that is asked.

    Args:
        table: The table.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def _add(self, name: str, body: Body, graphs: bool) -> None:
        environment = {"MXNET_ENABLE_CUDA_GRAPHS": str(int(graphs))}
        name += ", CUDA graphs" if graphs else ""
        self._table.add(name, _LIMIT_S, body, fresh=True, environment=environment)

    def training(self, batch_size: int, precision: str, *, graphs: bool = False) -> None:
        """Add a training step of ResNet-50."""
        body = functools.partial(networks.training, batch_size=batch_size, precision=precision)
        self._add(f"ResNet-50 training, {batch_size}, {precision}", body, graphs)

    def inference(
        self, batch_size: int, precision: str, *, graphs: bool = False, moving: bool = False
    ) -> None:
        """Add a call of ResNet-50, whose images may have another address at each call."""
        body = functools.partial(
            networks.inference, batch_size=batch_size, precision=precision, moving=moving
        )
        name = f"ResNet-50 inference, {batch_size}, {precision}"
        self._add(name + ", moving images" * moving, body, graphs)

    def bert(self, precision: str, *, graphs: bool = False) -> None:
        """Add a training step of BERT-base."""
        body = functools.partial(bert.training, precision=precision)
        self._add(f"BERT-base training, 32 x 128, {precision}", body, graphs)

    def lstm(self, precision: str, *, graphs: bool = False) -> None:
        """Add a training step of a language model."""
        body = functools.partial(lstm.training, precision=precision)
        self._add(f"LSTM 2 x 650 training, {precision}", body, graphs)
