"""Mistakes of users, side by side with what the message says: what, where, and the way out.

Half of them come from habits of MXNet, D2L, PyTorch and Keras. A message is read alone, so it must
say what was expected, what came, and what to write instead. The tables are the other files here.
"""

import traceback
from pathlib import Path

import pytest

import gluonish as mx
from tests.messages import (
    arguments,
    arrays,
    checks,
    data,
    hybrid_forward,
    layers,
    names,
    training,
)
from tests.messages.mistake import FILE, Mistake

PAGES = {
    "hybrid_forward": hybrid_forward.MISTAKES,
    "layers": layers.MISTAKES,
    "names": names.MISTAKES,
    "arguments": arguments.MISTAKES,
    "training": training.MISTAKES,
    "checks": checks.MISTAKES,
    "data": data.MISTAKES,
    "arrays": arrays.MISTAKES,
}
ALL = {f"{page}: {name}": row for page, rows in PAGES.items() for name, row in rows.items()}
# Frames of gluonish after the user's line, in functions that are called directly.
MOST_FRAMES = 10


@pytest.fixture(autouse=True)
def _classic() -> object:
    yield
    mx.npx.reset_np()


def failure(mistake: Mistake, folder: Path) -> BaseException:
    with pytest.raises(mistake.error) as caught:
        mistake.run(folder)
    return caught.value


@pytest.mark.parametrize("name", ALL)
def test_the_message_says_what_and_what_to_do(name: str, tmp_path: Path) -> None:
    error = failure(ALL[name], tmp_path)
    message = str(error)
    assert [word for word in ALL[name].words if word not in message] == []
    assert len(message) < 600 + len(str(tmp_path))
    if type(error) is UserWarning:  # a warning has a line, and a traceback only as an error
        return
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert len(files) - files.index(FILE) - files.count(FILE) <= MOST_FRAMES


def test_there_are_at_least_150() -> None:
    assert len(ALL) >= 150
