"""Checkpoints of symbolic recurrent networks, with separate weights for each gate."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gluonish.module.feed_forward import load_checkpoint, save_checkpoint
from gluonish.rnn.base_cell import Arrays, BaseRNNCell, States
from gluonish.symbol import Symbol

__all__ = ["do_rnn_checkpoint", "load_rnn_checkpoint", "rnn_unroll", "save_rnn_checkpoint"]

Cells = BaseRNNCell | Sequence[BaseRNNCell]


def rnn_unroll(
    cell: BaseRNNCell,
    length: int,
    inputs: Any = None,
    begin_state: States | None = None,
    input_prefix: str = "",
    layout: str = "NTC",
) -> tuple[Any, States]:
    """Return ``cell.unroll(length, inputs, begin_state, layout)``; deprecated.

    Args:
        cell: The cell.
        length: Number of steps.
        inputs: One Symbol, or a list of one Symbol per step.
        begin_state: States before the first step.
        input_prefix: Ignored.
        layout: Axes of a single Symbol: ``"NTC"`` or ``"TNC"``.
    """
    warnings.warn(
        "rnn_unroll is deprecated. Please call cell.unroll directly.", UserWarning, stacklevel=2
    )
    return cell.unroll(length, inputs, begin_state, layout)


def _listed(cells: Cells) -> Sequence[BaseRNNCell]:
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(
    cells: Cells,
    prefix: str,
    epoch: int,
    symbol: Symbol,
    arg_params: Arrays,
    aux_params: Arrays,
) -> None:
    """Save a network as `model.save_checkpoint` does, with the cells' weights unpacked.

    Args:
        cells: The cell, or list of cells, of the network.
        prefix: Prefix of the files' paths.
        epoch: Number of the epoch.
        symbol: The network; None saves parameters only.
        arg_params: Weights by name.
        aux_params: Auxiliary states by name.
    """
    for cell in _listed(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells: Cells, prefix: str, epoch: int) -> tuple[Symbol, Arrays, Arrays]:
    """Load network, weights and auxiliary states that `save_rnn_checkpoint` saved.

    The cells may differ from the saved ones, such as a fused cell instead of single cells.

    Args:
        cells: The cell, or list of cells, to pack the weights for.
        prefix: Prefix of the files' paths.
        epoch: Number of the epoch.
    """
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _listed(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells: Cells, prefix: str, period: int = 1) -> Callable[..., None]:
    """Return an ``epoch_end_callback`` of `Module.fit` that saves with `save_rnn_checkpoint`.

    Args:
        cells: The cell, or list of cells, of the network.
        prefix: Prefix of the files' paths.
        period: Number of epochs between two checkpoints.
    """
    period = int(max(1, period))

    def callback(
        iter_no: int,
        sym: Symbol,
        arg: Arrays,
        aux: Arrays,
    ) -> None:
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)

    return callback
