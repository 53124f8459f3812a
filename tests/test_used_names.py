"""Every name of MXNet's that published projects use is there, private ones too."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent / "golden" / "used_names.json"
NAMES: list[str] = json.loads(GOLDEN.read_text(encoding="utf-8"))["names"]


def resolved(name: str) -> Any:
    """What a program reaches by a dotted name: attributes, and modules that it imports."""
    parts = ["gluonish", *name.split(".")[1:]]
    found: Any = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], start=2):
        if not hasattr(found, part):
            importlib.import_module(".".join(parts[:i]))
        found = getattr(found, part)
    return found


def test_every_name_that_projects_use_is_there() -> None:
    missing = []
    for name in NAMES:
        try:
            resolved(name)
        except (AttributeError, ImportError) as error:
            missing.append(f"{name}: {error}")
    assert len(NAMES) > 600
    assert not missing, "\n".join(missing)


def test_what_comes_later_can_be_imported_and_says_so_when_called() -> None:
    name = "contrib.tensorrt.init_tensorrt_params"
    with pytest.raises(NotImplementedError, match=rf"mx\.{name}: gluonish does not have it yet"):
        resolved(f"mxnet.{name}")("float16")


def test_star_import_of_autograd_brings_the_array_class() -> None:
    """As in MXNet, whose module has no list of public names; programs rely on it."""
    names: dict[str, Any] = {}
    exec("from gluonish.autograd import *", names)
    assert names["NDArray"] is resolved("mxnet.nd.NDArray")


def test_module_of_the_array_class_has_what_makes_arrays() -> None:
    module = resolved("mxnet.ndarray.ndarray")
    package = resolved("mxnet.nd")
    assert module.array is package.array
    assert module._DTYPE_NP_TO_MX[module._DTYPE_MX_TO_NP[6]] == 6
    assert module._STORAGE_TYPE_STR_TO_ID == {
        "undefined": -1,
        "default": 0,
        "row_sparse": 1,
        "csr": 2,
    }
    assert module._GRAD_REQ_MAP == {"null": 0, "write": 1, "add": 3}
    assert module.py_slice is slice
    assert not hasattr(module, "no_such_name")
