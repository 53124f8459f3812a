import json
from typing import Any

import numpy as onp
import pytest

import gluonish.symbol as sym
from gluonish import numpy as np
from gluonish import util
from gluonish.core.errors import NotSupportedError
from gluonish.symbol import NumpySymbol, Symbol


@pytest.fixture
def x() -> NumpySymbol:
    symbol = sym.var("x").as_np_ndarray()
    assert isinstance(symbol, NumpySymbol)
    return symbol


def test_faces_are_of_the_same_outputs(x: NumpySymbol) -> None:
    assert repr(x) == "<_Symbol x>"
    assert type(x.as_nd_ndarray()) is Symbol
    assert x.as_np_ndarray() is x


def test_functions_give_symbols_of_the_face(x: NumpySymbol) -> None:
    for made in (x + 1, sym.np.sin(x), sym.np.sum(x), sym.npx.relu(x), x[0], sym.np.zeros((2,))):
        assert isinstance(made, NumpySymbol)


def test_nodes_are_called_as_mxnet_calls_them(x: NumpySymbol) -> None:
    with sym.NameManager():
        names = [s.name for s in (x + 1, x + x, sym.np.mean(x), sym.npx.relu(x), x.T)]
    assert names == ["add_scalar0", "add0", "mean0", "relu0", "transpose0"]


def test_missing_parameters_become_variables(x: NumpySymbol) -> None:
    made = sym.npx.fully_connected(x, num_hidden=3, name="fc")
    assert made.list_arguments() == ["x", "fc_weight", "fc_bias"]


def test_file_tells_the_number_and_the_semantics(x: NumpySymbol) -> None:
    with util.np_shape():
        graph = json.loads((x + 1.5).tojson())
    assert graph["nodes"][1]["op"] == "_npi_add_scalar"
    assert graph["nodes"][1]["attrs"] == {"is_int": "False", "scalar": "1.5"}
    assert graph["attrs"]["is_np_shape"] == ["int", 1]


@pytest.mark.parametrize(
    "key", [0, -1, (slice(None), 1), (slice(1, None), None), (0, slice(None, None, -1)), (0, 1)]
)
def test_index_selects_as_on_arrays(x: NumpySymbol, key: object) -> None:
    a = np.array([[1, 2, 3], [4, 5, 6]])
    (found,) = x[key].eval(x=a)
    assert found.as_np_ndarray().tolist() == a[key].tolist()


def test_index_with_an_array_is_refused(x: NumpySymbol) -> None:
    with pytest.raises(NotSupportedError, match=r"^index: expected integers"):
        x[[0, 1]]


def test_outputs_of_a_split_are_symbols_of_the_face(x: NumpySymbol) -> None:
    parts = sym.np.split(x, 2)
    assert [type(part) for part in parts] == [NumpySymbol, NumpySymbol]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda x: x > 1, "bool"),
        (lambda x: x == 2, "bool"),
        (lambda x: sym.np.sum(x > 1), "int64"),
        (lambda x: sym.np.argmax(x), "int64"),
        (lambda x: sym.np.argmin(x, axis=2), "int64"),
        (lambda x: sym.np.mean(x.astype("int32")), "float32"),
        (lambda x: sym.np.isnan(x), "bool"),
    ],
)
def test_dtypes_of_results_are_known_without_shapes(
    x: NumpySymbol, made: Any, expected: str
) -> None:
    """Checked with MXNet 1.9.1."""
    (found,) = made(x).infer_type(x="float32")[1]
    assert found == onp.dtype(expected).type
