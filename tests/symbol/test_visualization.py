import json
import re
import shutil
import warnings
from pathlib import Path

import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.symbol.visualization import plot_network, print_summary
from tests.golden.visualization_networks import CASES, mlp, pictures, tables

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "training_tools.json").read_text())
NAMES = [f"{name} {key}" for name, (_, shape) in CASES.items() for key in tables(shape)]
PICTURES = [f"{name} {key}" for name, (_, shape) in CASES.items() for key in pictures(shape)]


def case(full_name: str):
    """The network, its shapes, and the name of the call."""
    name, key = full_name.split()
    make, shape = CASES[name]
    with mx.name.NameManager():
        return make(mx.sym), shape, key


@pytest.fixture
def last_column(capsys):
    """Print a summary and return its parameter column by layer, with the total."""

    def counts(symbol, **arguments) -> dict[str, int]:
        print_summary(symbol, **arguments)
        lines = [line for line in capsys.readouterr().out.splitlines() if line[0] not in "_= "]
        found = {line.split("(")[0]: int(line[76:88]) for line in lines[1:-1]}
        return {**found, "total": int(lines[-1].removeprefix("Total params: "))}

    return counts


@pytest.mark.parametrize("name", NAMES)
def test_summary_is_that_of_mxnet(name: str, capsys) -> None:
    symbol, shape, key = case(name)
    print_summary(symbol, **tables(shape)[key])
    assert capsys.readouterr().out.splitlines() == GOLDEN["tables"][name]


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_that_of_mxnet(name: str) -> None:
    pytest.importorskip("graphviz")
    symbol, shape, key = case(name)
    # MXNet 1.9.1 fixes the size of the boxes, which cuts long labels.
    expected = "\n".join(GOLDEN["pictures"][name]).replace("fixedsize=true", "fixedsize=false")
    assert plot_network(symbol, **pictures(shape)[key]).source.rstrip("\n") == expected


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
def test_boxes_fit_their_labels() -> None:
    pytest.importorskip("graphviz")
    symbol = mx.sym.softmax(mx.sym.var("data"), name="softmax_of_attention_scores_in_layer_3")
    picture = plot_network(symbol, save_format="svg").pipe().decode()
    box = re.search(r'<polygon fill="#fccde5"[^>]*points="([^"]+)"', picture)
    assert box is not None
    columns = [float(point.split(",")[0]) for point in box[1].split()]
    assert max(columns) - min(columns) > 39 * 6  # points; a letter is wider than 6


def test_parameters_are_counted_of_every_layer(last_column) -> None:
    # MXNet 1.9.1 counts those of a few layers only: here 0 for the deconvolution and the norm.
    x = mx.sym.Deconvolution(mx.sym.var("data"), num_filter=3, kernel=(2, 2), name="up")
    x = mx.sym.LayerNorm(x, axis=1, name="norm")
    found = last_column(x, shape={"data": (1, 2, 4, 4)})
    assert found == {"data": 0, "up": 2 * 3 * 2 * 2, "norm": 6, "total": 30}


def test_fused_recurrent_weights_are_counted(last_column) -> None:
    x = mx.sym.RNN(mx.sym.var("data"), state_size=3, num_layers=1, mode="lstm", name="rnn")
    found = last_column(x, shape={"data": (5, 2, 4)})
    assert found["rnn"] == 4 * 3 * (4 + 3 + 2)


def test_shared_weights_count_once_in_the_total(last_column) -> None:
    # MXNet 1.9.1 adds them up twice.
    weight = mx.sym.var("w")
    x = mx.sym.FullyConnected(mx.sym.var("data"), weight, no_bias=True, num_hidden=3, name="a")
    x = mx.sym.FullyConnected(x, weight, no_bias=True, num_hidden=3, name="b")
    assert last_column(x, shape={"data": (2, 3)}) == {"data": 0, "a": 9, "b": 9, "total": 9}


def test_weights_that_are_computed_are_no_parameters(last_column) -> None:
    # MXNet 1.9.1 counts the extents of the layer before.
    weight = mx.sym.var("w") * 2
    x = mx.sym.FullyConnected(mx.sym.var("data"), weight, no_bias=True, num_hidden=3, name="a")
    assert last_column(x, shape={"data": (2, 3)})["total"] == 0


def test_unknown_extents_of_numpy_shapes_are_not_counted(last_column) -> None:
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="a")
    with mx.np_shape(True):
        assert last_column(x)["a"] == 3  # the bias; the weight is (3, -1)


def test_a_long_name_is_cut_at_its_column(capsys) -> None:
    print_summary(mx.sym.exp(mx.sym.var("d" * 90), name="n" * 90))
    lines = capsys.readouterr().out.splitlines()
    assert {len(line) for line in lines} == {120, len("Total params: 0")}
    assert lines[5].startswith("n" * 52 + " ")


def test_a_gluon_network_can_be_printed(last_column) -> None:
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(mx.gluon.nn.Dense(3, activation="relu"), mx.gluon.nn.PReLU())
        net.add(mx.gluon.nn.BatchNorm())
    found = last_column(net(mx.sym.var("data")), shape={"data": (2, 4)})
    assert found["net_dense0_fwd"] == 15
    assert found["net_batchnorm0_fwd"] == 6
    assert found["total"] == 15 + 1 + 6  # MXNet 1.9.1 leaves out the slope of PReLU


@pytest.mark.parametrize("function", [print_summary, plot_network])
def test_what_is_no_symbol_is_refused(function) -> None:
    pytest.importorskip("graphviz")
    with pytest.raises(ArgumentTypeError, match="expected a Symbol, got int"):
        function(3)


@pytest.mark.parametrize("function", [print_summary, plot_network])
def test_shapes_that_are_no_dict_are_refused(function) -> None:
    pytest.importorskip("graphviz")
    with pytest.raises(ArgumentTypeError, match="expected shape as a dict by input name"):
        function(mlp(mx.sym), shape=(2, 3))


@pytest.mark.parametrize("function", [print_summary, plot_network])
def test_too_few_shapes_are_refused_with_the_inputs(function) -> None:
    pytest.importorskip("graphviz")
    with pytest.raises(ArgumentError, match=r"leaves some unknown; the inputs are \['data'"):
        function(mlp(mx.sym), shape={})


def test_too_few_positions_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected 4 positions"):
        print_summary(mlp(mx.sym), positions=[0.4, 1.0])


def test_pooling_by_defaults_can_be_drawn() -> None:
    # MXNet 1.9.1 fails with a KeyError.
    pytest.importorskip("graphviz")
    x = mx.sym.Pooling(mx.sym.var("data"), global_pool=True, name="pool")
    assert 'pool [label="Pooling\nmax, 1/1"' in plot_network(x).source


def test_an_operator_of_the_program_is_drawn_by_its_type() -> None:
    pytest.importorskip("graphviz")

    class Own(mx.operator.CustomOpProp):
        pass

    mx.operator.register("own_kind")(Own)
    x = mx.sym.Custom(mx.sym.var("data"), op_type="own_kind", name="own")
    assert "own [label=own_kind" in plot_network(x).source


def test_an_unknown_format_is_refused() -> None:
    pytest.importorskip("graphviz")
    with pytest.raises(ArgumentError, match="expected a format of Graphviz, got 'xyz'"):
        plot_network(mlp(mx.sym), save_format="xyz")


def test_types_that_stay_unknown_are_refused() -> None:
    pytest.importorskip("graphviz")
    with pytest.raises(ArgumentTypeError, match="expected dtype as a dict"):
        plot_network(mlp(mx.sym), dtype="float32")


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "graphviz", None)
    with pytest.raises(NotSupportedError, match="pip install graphviz"):
        plot_network(mlp(mx.sym))


def test_duplicate_node_names_are_reported() -> None:
    pytest.importorskip("graphviz")
    x = mx.sym.var("x")
    with pytest.warns(RuntimeWarning, match="got several nodes named x; they are drawn as one"):
        plot_network(x + mx.sym.var("x"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_network(x + mx.sym.var("y"))


def test_names_with_marks_of_graphviz_are_only_text() -> None:
    pytest.importorskip("graphviz")
    symbol = mx.sym.relu(mx.sym.var("in:0"), name="<b>")
    source = plot_network(symbol).source
    nodes = dict(re.findall(r'^\t"(\S+)" \[label="(\S+)" ', source, re.MULTILINE))
    assert list(nodes.values()) == ["in:0", "<b>"]
    (edge,) = re.findall(r'^\t"(\S+)" -> "(\S+)" ', source, re.MULTILINE)
    assert sorted(edge) == sorted(nodes)
