"""What programs for MXNet know as ``mx``."""

from types import SimpleNamespace

import pytest

import gluonish as mx
from gluonish import model, module


@pytest.fixture(scope="session")
def mxnet() -> SimpleNamespace:
    """The package as the golden data's programs take it."""
    names = ("cpu", "init", "io", "metric", "mon", "name", "nd", "sym")
    return SimpleNamespace(**{name: getattr(mx, name) for name in names}, mod=module, model=model)
