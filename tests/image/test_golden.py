"""Functions of images and transforms against what MXNet 1.9.1 gave; see golden/make_image.py."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gluonish.image as image
from gluonish import nd
from gluonish.core.errors import GluonishError
from gluonish.gluon.data.vision import transforms as T

GOLDEN = Path(__file__).parents[1] / "golden"
MX = SimpleNamespace(nd=nd, image=image)


def load_calls() -> ModuleType:
    spec = importlib.util.spec_from_file_location("image_calls", GOLDEN / "image_calls.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CALLS = load_calls()
WANTED = dict(np.load(GOLDEN / "image.npz"))
TEXTS = list(enumerate(CALLS.FUNCTIONS + CALLS.TRANSFORMS))


def agrees(found: Any, wanted: Any, text: str) -> None:
    found = np.asarray(found)
    assert found.shape == wanted.shape
    if not text.startswith("image.scale_down"):
        assert found.dtype == wanted.dtype or found.ndim < 2
    if wanted.dtype == np.uint8:
        # Cubic sums differ between versions of OpenCV, others between it and NumPy.
        off = np.abs(found.astype(int) - wanted)
        assert off.max(initial=0) <= 1
        assert off.mean() < 0.15
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 if "otat" in text else 1e-3)


@pytest.mark.parametrize("opencv", [True, False], ids=["opencv", "numpy"])
@pytest.mark.parametrize(("position", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_results_are_those_of_mxnet(
    position: int, text: str, opencv: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if opencv:
        pytest.importorskip("cv2")
    else:
        monkeypatch.setitem(sys.modules, "cv2", None)
    found = CALLS.called(text, position, MX, T)
    parts = found if isinstance(found, list) else [found]
    for j, part in enumerate(parts):
        agrees(part, WANTED[f"{position}_{j}"], text)


@pytest.mark.parametrize("text", CALLS.REFUSED)
def test_what_mxnet_refuses_is_refused(text: str) -> None:
    with pytest.raises(GluonishError, match=r"expected .* got "):
        CALLS.called(text, 0, MX, T)


@pytest.mark.parametrize("text", CALLS.REPRESENTED)
def test_transforms_look_as_in_mxnet(text: str) -> None:
    shown = json.loads((GOLDEN / "image.json").read_text("utf-8"))
    assert repr(eval(text, {"T": T})) == shown[text]
