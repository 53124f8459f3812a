import importlib
import sys

import pytest

from gluonish.core.module_names import alias_modules


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
