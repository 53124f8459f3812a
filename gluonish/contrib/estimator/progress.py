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
    """Give an iterable of batches that moves a bar, or the batches themselves without a terminal.

    Args:
        batches: A DataLoader.
        label: What stands before the bar.
        total: At most how many batches will be taken; None for all.
        shown: False for no bar at all.
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
    """Writes log lines above the bars that are shown, if any are."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the line of ``record``."""
        if "tqdm" not in sys.modules:
            super().emit(record)
            return
        from tqdm import tqdm

        with tqdm.external_write_mode(file=self.stream):
            super().emit(record)
