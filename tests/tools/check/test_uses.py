import ast

import pytest

from gluonish.tools.check.uses import uses_of


def names(source: str) -> list[str]:
    return [f"{use.line} {use.name}" for use in uses_of(ast.parse(source), ["mxnet"])]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import mxnet as mx\nmx.nd.array([1]).foo", ["1 mxnet", "2 mxnet.nd.array"]),
        ("import mxnet.gluon.nn\nmxnet.cpu()", ["1 mxnet.gluon.nn", "2 mxnet.cpu"]),
        ("from mxnet import nd as a\na.zeros", ["1 mxnet.nd", "2 mxnet.nd.zeros"]),
        ("from mxnet.gluon import *", ["1 mxnet.gluon"]),
        ("import mxnet as mx\nF = mx.nd\nF.relu", ["1 mxnet", "2 mxnet.nd", "3 mxnet.nd.relu"]),
        ("from mxnet import nd\nnd = 3\nnd.real", ["1 mxnet.nd"]),
        ("from mxnet import nd\ndef f(nd, x=nd.a): nd.b", ["1 mxnet.nd", "2 mxnet.nd.a"]),
        ("from mxnet import nd\ng = lambda nd: nd.b", ["1 mxnet.nd"]),
        ("def f():\n  import mxnet as mx\n  mx.cpu\nmx.gpu", ["2 mxnet", "3 mxnet.cpu"]),
        ("class A:\n  def hybrid_forward(self, F, x): return F.relu(x)", ["2 mxnet.nd.relu"]),
        ("from . import mxnet\nimport numpy\nmxnet.nd, numpy.nd", []),
        ("import mxnet as mx\nmx.nd.f(mx.nd.g).h", ["1 mxnet", "2 mxnet.nd.f", "2 mxnet.nd.g"]),
    ],
)
def test_names_are_followed(source: str, expected: list[str]) -> None:
    assert names(source) == expected
