import logging

import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError


def test_known_backends_give_the_graph() -> None:
    y = mx.sym.var("x") + 1
    assert y.get_backend_symbol("MKLDNN").tojson() == y.tojson()
    assert y.optimize_for("MKLDNN").tojson() == y.tojson()


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ArgumentError, match="'foo'"):
        mx.sym.var("x").get_backend_symbol("foo")


def test_an_unknown_backend_to_optimize_for_leaves_a_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    y = mx.sym.var("x") + 1
    with caplog.at_level(logging.WARNING, "gluonish"):
        assert y.optimize_for("foo").tojson() == y.tojson()
    assert "'foo'" in caplog.text
