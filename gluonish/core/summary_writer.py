"""The writer of event files for TensorBoard, of the package tensorboardX.

tensorboardX depends only on protobuf; TensorBoard's own writer needs its server and eight packages.
"""

import os
from typing import Any

from gluonish.core.errors import NotSupportedError
from gluonish.core.files import path_text
from gluonish.core.loading import IMPORT_FAILURES, import_text


def summary_writer(logging_dir: str | os.PathLike[str], purge_step: int | None = None) -> Any:
    """Return a ``tensorboardX.SummaryWriter``.

    Args:
        logging_dir: Folder of the event files; created if missing.
        purge_step: First step whose values in earlier files are no longer shown.

    Raises:
        NotSupportedError: tensorboardX is not installed.
    """
    try:
        from tensorboardX import SummaryWriter
    except IMPORT_FAILURES as error:
        raise NotSupportedError(
            f"tensorboard: expected the package tensorboardX, got {import_text(error)}; install it "
            "with `pip install tensorboardX` (or gluonish[tensorboard])"
        ) from error
    return SummaryWriter(path_text(logging_dir, "summary_writer"), purge_step=purge_step)
