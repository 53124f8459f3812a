import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

import gluonish as mx
from gluonish.core.module_names import alias_modules, lists, loads


def test_alias_is_the_same_module_at_every_depth() -> None:
    alias_modules({"gluonish.other_core": "gluonish.core"})
    alias = importlib.import_module("gluonish.other_core.dtype")
    assert alias is importlib.import_module("gluonish.core.dtype")
    assert sys.modules["gluonish.other_core"] is importlib.import_module("gluonish.core")


def test_module_keeps_its_own_name_and_spec() -> None:
    alias_modules({"gluonish.third_core": "gluonish.core"})
    module = importlib.import_module("gluonish.third_core.dtype")
    assert module.__name__ == "gluonish.core.dtype"
    assert module.__spec__ is not None
    assert module.__spec__.name == "gluonish.core.dtype"


def test_alias_of_nothing_is_a_missing_module() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"gluonish\.gluon\.nowhere"):
        importlib.import_module("gluonish.gluon.nowhere")


def test_module_below_an_alias_that_is_not_there_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"gluonish\.gluon\.nn\.nowhere"):
        importlib.import_module("gluonish.gluon.nn.nowhere")


def test_lazy_attribute_loads_its_module() -> None:
    module = loads("gluonish", ["recorded_nowhere", "core"])("core")
    assert isinstance(module, ModuleType)
    assert module.__name__ == "gluonish.core"


def test_other_attributes_are_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match=r"module 'gluonish\.gluon' has no attribute 'moduel'"):
        _ = mx.gluon.moduel  # type: ignore[attr-defined]


def test_names_that_load_later_are_listed() -> None:
    assert lists(["b", "a"])() == ["a", "b"]
    assert {"data", "model_zoo", "contrib"} <= set(dir(mx.gluon))


def test_half_imported_module_is_not_kept_as_an_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    package, module = ModuleType("some_package"), ModuleType("some_package.image")
    spec: Any = ModuleSpec("some_package.image", None)
    spec._initializing = True
    module.__spec__ = spec
    monkeypatch.setitem(sys.modules, "some_package", package)
    monkeypatch.setitem(sys.modules, "some_package.image", module)
    find = loads("some_package", ["image"])
    assert find("image") is module  # its own code asks
    assert not hasattr(package, "image")
    spec._initializing = False
    assert find("image") is module
    assert package.image is module
