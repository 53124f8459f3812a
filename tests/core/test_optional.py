"""Optional packages that are half installed: a message of ours, or what does without them."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib.tensorboard import LogMetricsCallback
from gluonish.core.errors import NotSupportedError
from gluonish.core.loading import import_text
from gluonish.onnx.importing.package import onnx_package
from gluonish.ops.image.resampling import open_cv

_NEEDS: dict[str, Callable[[], Any]] = {
    "tensorboardX": lambda: LogMetricsCallback("logs"),
    "graphviz": lambda: mx.viz.plot_network(mx.sym.var("x") + 1),
    "scipy": lambda: mx.nd.sparse.csr_matrix(np.eye(2)).asscipy(),
    "pandas": lambda: mx.notebook.callback.PandasLogger(1),
    "onnx": lambda: onnx_package("export"),
}


@pytest.fixture(params=["ImportError", "OSError", "RuntimeError", "AttributeError", "ValueError"])
def broken(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    for package in (*_NEEDS, "cv2"):
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        (tmp_path / f"{package}.py").write_text(f"raise {request.param}('on purpose')")
    monkeypatch.syspath_prepend(str(tmp_path))
    return str(request.param)


@pytest.mark.parametrize("package", _NEEDS)
def test_a_package_that_cannot_be_imported_is_said(package: str, broken: str) -> None:
    with pytest.raises(NotSupportedError, match="on purpose"):
        _NEEDS[package]()


def test_images_do_without_a_broken_opencv(broken: str) -> None:
    assert open_cv() is None
    assert not mx.runtime.Features().is_enabled("OPENCV")


def test_a_missing_package_is_none() -> None:
    assert import_text(ModuleNotFoundError("No module named 'x'")) == "none"
    assert import_text(OSError("a\nb")) == "one that cannot be imported (a b)"
    assert import_text(TypeError("a")) == "one that cannot be imported (TypeError: a)"
