import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

import gluonish as mx
from gluonish.core.lazy import attach, attach_methods, extend, lists


def test_lazy_attribute_loads_its_module() -> None:
    module = attach("gluonish", ["recorded_nowhere", "core"])("core")
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
    find = attach("some_package", ["image"])
    assert find("image") is module  # its own code asks
    assert not hasattr(package, "image")
    spec._initializing = False
    assert find("image") is module
    assert package.image is module


def test_a_target_that_is_missing_is_no_attribute() -> None:
    find = attach("gluonish.core", (), {"absent": "gluonish.core.absent", "json": "json:dumps"})
    with pytest.raises(AttributeError, match=r"gluonish\.core\.absent"):
        find("absent")


def test_what_is_in_no_table_is_asked_of_the_other_function() -> None:
    find = attach("gluonish.core", (), {}, str.upper)
    assert find("name") == "NAME"


def test_loaded_module_gets_attributes_from_above(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = mx.recordio
    monkeypatch.delattr(module, "__getattr__", raising=False)
    monkeypatch.setattr(module, "__all__", module.__all__)
    extend("gluonish.recordio", {"further": "json:dumps"}, starred=True)
    assert module.further is sys.modules["json"].dumps
    assert module.__all__.count("further") == 1
    monkeypatch.delattr(module, "further")  # it was put there at the first look


class Kind:
    pass


def test_method_is_made_at_the_first_look() -> None:
    made = []

    def make(name: str) -> Any:
        made.append(name)
        return lambda self: (self, name)

    attach_methods(Kind, ["one", "two"], make)
    kind: Any = Kind()
    assert not made
    assert kind.two() == (kind, "two")
    assert kind.two() == (kind, "two")
    assert made == ["two"]
    assert Kind.__dict__["one"] is not None
