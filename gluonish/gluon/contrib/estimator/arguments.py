"""Checks of the arguments of an Estimator."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from gluonish.core.context import Context, cpu, gpu
from gluonish.core.device import gpu_count
from gluonish.core.errors import ArgumentError, ArgumentTypeError, DeviceError
from gluonish.gluon.block import Block
from gluonish.gluon.contrib.estimator.batch_processor import BatchProcessor
from gluonish.gluon.contrib.estimator.events import EventHandler
from gluonish.gluon.data import DataLoader
from gluonish.gluon.loss import Loss

Handlers = EventHandler | Sequence[EventHandler] | None


def check_handlers(method: str, handlers: Any) -> list[EventHandler]:
    """Check handlers; return them as a new list.

    Raises:
        ArgumentError: An item is not an EventHandler.
    """
    if isinstance(handlers, EventHandler):
        return [handlers]
    found = [] if handlers is None else handlers
    if not isinstance(found, list | tuple) or not all(isinstance(h, EventHandler) for h in found):
        raise ArgumentError(
            f"Estimator.{method}: expected event_handlers to be an EventHandler or a list of them,"
            f" got {handlers!r}; derive yours from TrainBegin, EpochEnd, ..."
        )
    return list(found)


def check_loader(method: str, name: str, data: Any) -> None:
    """Check that data is a DataLoader, which can be iterated over repeatedly.

    Raises:
        ArgumentError: The data is not a DataLoader.
    """
    if not isinstance(data, DataLoader):
        raise ArgumentError(
            f"Estimator.{method}: expected {name} to be a gluon.data.DataLoader, got "
            f"{type(data).__name__}; put arrays into an ArrayDataset and that into a DataLoader"
        )


def check_duration(epochs: int | None, batches: int | None) -> tuple[int | None, int | None]:
    """Check the duration of training; return the numbers of epochs and batches, one of them None.

    Raises:
        ArgumentError: Both or neither are set, or the number is not an integer of at least 1.
    """
    if bool(epochs) == bool(batches):
        raise ArgumentError(
            f"Estimator.fit: expected either epochs or batches, got epochs={epochs} and "
            f"batches={batches}"
        )
    name, number = ("epochs", epochs) if epochs else ("batches", batches)
    found = int(number) if isinstance(number, Integral) else 0  # NumPy's integers, too
    if found < 1:
        raise ArgumentError(
            f"Estimator.fit: expected {name} to be an integer of at least 1, got {number!r}"
        )
    return (found, None) if epochs else (None, found)


def check_block(name: str, block: Any) -> Block:
    """Check that an argument is a Block, and return it.

    Raises:
        ArgumentTypeError: The argument is not a Block.
    """
    if not isinstance(block, Block):
        raise ArgumentTypeError(f"Estimator: expected {name} to be a Block, got {block!r}")
    return block


def check_loss(name: str, loss: Any) -> Loss:
    """Check that an argument is a Loss, and return it.

    Raises:
        ArgumentError: The argument is not a Loss.
    """
    if not isinstance(loss, Loss):
        raise ArgumentError(f"Estimator: expected {name} to be a gluon.loss.Loss, got {loss!r}")
    return loss


def check_processor(processor: Any) -> BatchProcessor:
    """Check that an object has the methods of BatchProcessor, and return it.

    Raises:
        ArgumentError: A method is missing.
    """
    if processor is None:
        return BatchProcessor()
    for method in ("fit_batch", "evaluate_batch"):
        if not callable(getattr(processor, method, None)):
            raise ArgumentError(
                "Estimator: expected a batch_processor with methods fit_batch and evaluate_batch, "
                f"got {processor!r} without {method}; derive it from BatchProcessor"
            )
    found: BatchProcessor = processor
    return found


def check_context(context: Any) -> list[Context]:
    """Check devices; return a list, by default the first GPU, or the CPU if there is no GPU.

    Args:
        context: A Context, a list of Contexts, or None.

    Raises:
        ArgumentError: ``context`` has another type.
        DeviceError: A GPU does not exist.
    """
    contexts = [context] if isinstance(context, Context) else context or []
    if not isinstance(contexts, list | tuple) or not all(isinstance(c, Context) for c in contexts):
        raise ArgumentError(
            f"Estimator: expected context to be a Context or a list of them, got {context!r}; for "
            "example mx.cpu() or [mx.gpu(0), mx.gpu(1)]"
        )
    count = gpu_count()
    for item in contexts:
        if item.device_type == "gpu" and item.device_id >= count:
            raise DeviceError(f"Estimator: expected a GPU below gpu({count}), got {item}")
    return list(contexts) or [gpu(0) if count else cpu()]
