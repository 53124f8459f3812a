import importlib

import pytest

import gluonish as mx


@pytest.mark.parametrize(
    ("name", "face"),
    [("nd", "nd"), ("ndarray", "nd"), ("sym", "sym"), ("symbol", "sym")],
)
def test_module_is_the_namespace_of_a_face(name: str, face: str) -> None:
    module = importlib.import_module(f"gluonish.contrib.{name}")
    assert module is getattr(mx.contrib, name)
    assert module is getattr(mx, face).contrib


def test_operators_are_found_there() -> None:
    assert mx.contrib.nd.box_iou is mx.nd.contrib.box_iou
