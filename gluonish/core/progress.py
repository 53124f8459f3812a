"""Progress bars: tqdm's widgets in a notebook, its lines on a terminal, elsewhere none.

tqdm is imported when the first bar is made.
"""

import sys
from typing import Any

__all__ = ["in_notebook", "progress_bar", "shows_progress"]


def in_notebook() -> bool:
    """Whether the program runs in a Jupyter kernel."""
    return "ipykernel.zmqshell" in sys.modules


def shows_progress() -> bool:
    """Whether bars are shown: in a notebook, or if standard error is a terminal."""
    if in_notebook():
        return True
    try:
        return bool(sys.stderr.isatty())
    except (AttributeError, ValueError):  # stderr is None or closed
        return False


def progress_bar(*args: Any, **options: Any) -> Any:
    """Return a bar of tqdm, disabled unless `shows_progress`; the arguments are those of tqdm."""
    if in_notebook():
        from tqdm.auto import tqdm  # needs ipywidgets for a widget; without it, a line of text
    else:
        from tqdm import tqdm  # type: ignore[assignment]
    options.setdefault("disable", not shows_progress())
    return tqdm(*args, **options)
