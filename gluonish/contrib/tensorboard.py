"""`mx.contrib.tensorboard`: metrics for TensorBoard.

MXNet used the package mxboard, which is no longer maintained. tensorboardX writes the same event
files.
"""

import os

from gluonish.core.object_repr import default_repr
from gluonish.core.summary_writer import summary_writer
from gluonish.module.feed_forward import BatchEndParams

__all__ = ["LogMetricsCallback", "summary_writer"]


class LogMetricsCallback:
    """Callback for the end of a batch or an evaluation that writes metrics for TensorBoard.

    As in MXNet, the step of a value is the number of the epoch: of several values in an epoch
    TensorBoard shows the last.

    Args:
        logging_dir: Folder of the event files, such as ``logs/train``.
        prefix: Prefix of the values' names, followed by ``-``; None for the metrics' own names.

    Attributes:
        prefix: The argument.
        summary_writer: The writer; call its ``close()`` at the end.

    Raises:
        NotSupportedError: tensorboardX is not installed. MXNet logs that, and fails at the first
            batch.
    """

    __repr__ = default_repr

    def __init__(self, logging_dir: str | os.PathLike[str], prefix: str | None = None) -> None:
        self.prefix = prefix
        self.summary_writer = summary_writer(logging_dir)

    def __call__(self, param: BatchEndParams) -> None:
        """Write the values of the metrics.

        Args:
            param: A `BatchEndParam` with epoch and metric.
        """
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            tag = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(tag, value, global_step=param.epoch)
