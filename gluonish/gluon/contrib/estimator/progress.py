"""A bar over the batches of an epoch, for whoever watches a terminal, and log lines above it.

The bar stands on the last line of standard error and goes when the epoch ends. Where standard
error is no terminal nothing is shown, and tqdm is not imported.
"""

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["LineHandler", "watched"]


@contextmanager
def watched(batches: Any, label: str, total: int | None, shown: bool) -> Iterator[Iterable[Any]]:
    """Return an iterable over batches that updates a progress bar; without a terminal, no bar.

    Args:
        batches: A DataLoader.
        label: Text in front of the bar.
        total: Maximum number of batches; None for all.
        shown: Whether to show a bar at all.
    """
    if not shown or sys.stderr is None or not sys.stderr.isatty():
        yield batches
        return
    from tqdm import tqdm

    length = len(batches) if hasattr(batches, "__len__") else None
    known = [count for count in (length, total) if count is not None]
    with tqdm(
        batches, desc=label, total=min(known, default=None), unit="batch", leave=False
    ) as bar:
        yield bar


class LineHandler(logging.StreamHandler[Any]):
    """Logging handler that writes lines above the progress bars, if any are shown."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a log record.

        Args:
            record: The record.
        """
        if "tqdm" not in sys.modules:
            super().emit(record)
            return
        from tqdm import tqdm

        with tqdm.external_write_mode(file=self.stream):
            super().emit(record)
