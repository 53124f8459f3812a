"""The record files that `tests/golden/make_image_record.py` had MXNet write."""

from pathlib import Path

import numpy as np
import pytest

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


@pytest.fixture(scope="session")
def stored() -> dict[str, np.ndarray]:
    """The arrays that MXNet gave, and the files that it read."""
    with np.load(GOLDEN / "image_record.npz") as arrays:
        return dict(arrays)


@pytest.fixture(scope="session")
def records(stored, tmp_path_factory) -> Path:
    """A folder with the record files, indices and lists."""
    folder = tmp_path_factory.mktemp("records")
    for name, values in stored.items():
        if name.startswith("file/"):
            (folder / name.removeprefix("file/")).write_bytes(values.tobytes())
    return folder
