"""Augmenters and image iterators against what MXNet 1.9.1 gave; see golden/make_augmenters.py."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gluonish.image as image
from gluonish import nd, recordio
from gluonish.core.errors import GluonishError

GOLDEN = Path(__file__).parents[1] / "golden"
MX = SimpleNamespace(nd=nd, image=image, recordio=recordio)


def load_calls() -> ModuleType:
    spec = importlib.util.spec_from_file_location("augmenter_calls", GOLDEN / "augmenter_calls.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CALLS = load_calls()
SHOWN = json.loads((GOLDEN / "augmenters.json").read_text("utf-8"))
WANTED = CALLS.unpacked(dict(np.load(GOLDEN / "augmenters.npz")), SHOWN["shapes"])
PNGS = [WANTED[f"png_{i}"].tobytes() for i in range(7)]
ALL = CALLS.AUGMENTERS + CALLS.COLORS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = str(tmp_path_factory.mktemp("images"))
    CALLS.make_files(made, MX, PNGS)
    return made


@pytest.fixture(params=[True, False], ids=["opencv", "without"])
def decoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        pytest.importorskip("cv2")
    else:
        monkeypatch.setitem(sys.modules, "cv2", None)


def wanted(stem: str) -> list[Any]:
    found: Any = []
    while f"{stem}_{len(found)}" in WANTED:
        found.append(WANTED[f"{stem}_{len(found)}"])
    return found


def agree(found: list[Any], stem: str, levels: int = 0) -> None:
    """Compare arrays with those of MXNet; ``levels`` more of brightness may lie between them."""
    expected = wanted(stem)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        if theirs.dtype == np.uint8:
            # Cubic sums differ between versions of OpenCV, others between it and NumPy.
            off = np.abs(ours.astype(int) - theirs)
            assert off.max(initial=0) <= 1 + levels
            assert off.mean() < 0.15 + levels
        else:
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(
                ours, theirs, rtol=1e-5, atol=2e-4 + levels * (ours.ndim > 2)
            )


@pytest.mark.usefixtures("decoder")
@pytest.mark.parametrize(("position", "text"), list(enumerate(ALL)), ids=ALL)
def test_images_become_what_mxnet_makes_of_them(position: int, text: str) -> None:
    agree(CALLS.changed(text, position, MX, "f"), f"f_{position}")
    if text in CALLS.AUGMENTERS:
        agree(CALLS.changed(text, position, MX, "x"), f"x_{position}")


@pytest.mark.usefixtures("decoder")
@pytest.mark.parametrize(
    ("position", "text"), list(enumerate(CALLS.WITH_BOXES)), ids=CALLS.WITH_BOXES
)
def test_boxes_become_what_mxnet_makes_of_them(position: int, text: str) -> None:
    agree(CALLS.changed_with_boxes(text, position, MX), f"boxes_{position}")


@pytest.mark.parametrize("text", ALL + CALLS.WITH_BOXES)
def test_augmenters_describe_themselves_as_in_mxnet(text: str) -> None:
    assert eval(text, CALLS.names(MX)).dumps() == SHOWN["dumps"][text]


@pytest.mark.parametrize("text", CALLS.LISTS)
def test_lists_are_made_of_what_mxnet_makes_them_of(text: str) -> None:
    found = json.loads(json.dumps(CALLS.described(eval(text, CALLS.names(MX)))))
    assert found == SHOWN["lists"][text]


@pytest.mark.usefixtures("decoder")
@pytest.mark.parametrize(
    ("position", "text"), list(enumerate(CALLS.ITERATORS)), ids=CALLS.ITERATORS
)
def test_epochs_are_those_of_mxnet(position: int, text: str, folder: str) -> None:
    arrays, shown = CALLS.epochs(text, position, MX, folder)
    stem = f"epochs_{position}"
    as_stored = [_like(a, w) for a, w in zip(arrays, wanted(stem), strict=True)]
    # Without OpenCV resampled bytes differ by one, and are floats with the mean taken off here.
    agree(as_stored, stem, levels=int(sys.modules.get("cv2", True) is None))
    assert shown == SHOWN["iterators"][text]
    assert all(array.dtype == np.float32 for array in arrays)


def _like(found: Any, expected: Any) -> Any:
    """Return bytes where the golden data hold floats as such."""
    if expected.dtype != np.uint8:
        return found
    assert (found == np.rint(found)).all()
    return found.astype(np.uint8)


@pytest.mark.usefixtures("decoder")
@pytest.mark.parametrize(("position", "text"), list(enumerate(CALLS.DRAWINGS)), ids=CALLS.DRAWINGS)
def test_drawings_are_those_of_mxnet(position: int, text: str, folder: str) -> None:
    # Without OpenCV resampled bytes differ by one, and that times the deviation of 2 here.
    levels = int(sys.modules.get("cv2", True) is None) * (60 if "std=True" in text else 2)
    agree(CALLS.drawn(text, position, MX, folder), f"drawn_{position}", levels)


@pytest.mark.parametrize("text", CALLS.REFUSED)
def test_what_mxnet_refuses_is_refused(text: str, folder: str) -> None:
    with pytest.raises(GluonishError, match=r"expected .* got "):
        eval(text.replace("{}", folder), CALLS.names(MX))
