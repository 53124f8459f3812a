"""Where compiled kernels of the tests lie between runs."""

import os
import tempfile
from functools import cache
from pathlib import Path

_VARIABLE = "TEST_KERNEL_HOME"


def share_kernel_home() -> None:
    """Have the programs that this one starts use its folder."""
    os.environ[_VARIABLE] = str(kernel_home())


@cache
def kernel_home() -> Path:
    """Return a folder of this user's for compiled kernels, which all runs of the tests share.

    A kernel is kept under a digest of what it was made from and by, so that none is ever stale.
    """
    if _VARIABLE in os.environ:  # of the tests that started this program
        return Path(os.environ[_VARIABLE])
    if not hasattr(os, "geteuid"):  # on Windows, where everybody has a temporary folder
        return Path(tempfile.gettempdir()) / "gluonish-tests"
    home = Path(tempfile.gettempdir()) / f"gluonish-tests-{os.geteuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    ours = not home.is_symlink() and home.stat().st_uid == os.geteuid()
    return home if ours else Path(tempfile.mkdtemp(prefix="gluonish-tests-"))
