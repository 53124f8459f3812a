"""`mx.contrib.tensorboard`: metrics for TensorBoard.

MXNet wrote through the package mxboard, which is no longer kept. Here it is tensorboardX, whose
event files are the same: it needs protobuf alone, where TensorBoard's own writer comes with its
server and eight packages.
"""

import os
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.module.feed_forward import BatchEndParams

__all__ = ["LogMetricsCallback", "summary_writer"]


def summary_writer(logging_dir: str | os.PathLike[str], purge_step: int | None = None) -> Any:
    """Return a ``tensorboardX.SummaryWriter``.

    Args:
        logging_dir: Folder of the event files; made if it is missing.
        purge_step: Values of this step and later ones, from earlier files, are no longer shown.

    Raises:
        NotSupportedError: tensorboardX is not installed.
    """
    try:
        from tensorboardX import SummaryWriter
    except ImportError as error:
        raise NotSupportedError(
            "tensorboard: expected the package tensorboardX, got none; install it with `pip "
            "install tensorboardX` (or gluonish[tensorboard])"
        ) from error
    return SummaryWriter(os.fspath(logging_dir), purge_step=purge_step)


class LogMetricsCallback:
    """Callback for the end of a batch, or of an evaluation: writes metrics for TensorBoard.

    The step of a value is the number of the epoch, as in MXNet: of several values in an epoch,
    TensorBoard shows the last.

    Args:
        logging_dir: Folder of the event files, such as ``logs/train``.
        prefix: What the names of values begin with, before ``-``; None for the metrics' own names.

    Attributes:
        prefix: The argument.
        summary_writer: The writer; ``close()`` it when all is written.

    Raises:
        NotSupportedError: tensorboardX is not installed. MXNet logs that, and fails at the first
            batch.
    """

    def __init__(self, logging_dir: str | os.PathLike[str], prefix: str | None = None) -> None:
        self.prefix = prefix
        self.summary_writer = summary_writer(logging_dir)

    def __call__(self, param: BatchEndParams) -> None:
        """Write the values of the metrics."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            tag = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(tag, value, global_step=param.epoch)
