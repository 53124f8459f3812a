"""Mistake: a program with a mistake, and what its error must say."""

import linecache
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as onp

import gluonish as mx

FILE = "user.py"
NAMES: dict[str, Any] = {
    "mx": mx,
    "onp": onp,
    **{name: getattr(mx, name) for name in ("autograd", "gluon", "nd", "np", "npx", "sym")},
    **{name: getattr(mx.gluon, name) for name in ("data", "loss", "nn", "rnn")},
}


class Mistake:
    """A program with a mistake.

    Args:
        program: Its text, with the names of `NAMES`; ``{folder}`` is an empty folder.
        error: Built-in class of the error, which programs catch.
        words: What the message must contain, between bars: the argument, what came, what to do.
    """

    def __init__(self, program: str, error: type[BaseException], words: str) -> None:
        self.program = textwrap.dedent(program).strip() + "\n"
        self.error = error
        self.words = words.split(" | ")

    def run(self, folder: Path) -> None:
        """Run the program."""
        text = self.program.replace("{folder}", str(folder))
        linecache.cache[FILE] = (len(text), None, text.splitlines(keepends=True), FILE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, FILE, "exec"), dict(NAMES))
