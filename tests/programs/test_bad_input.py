"""Mistakes that users make end in one error that names the place, what was expected, what came."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx

nd, nn, gluon = mx.nd, mx.gluon.nn, mx.gluon


def dense(**init: Any) -> Any:
    layer = nn.Dense(3, in_units=4, prefix="d_")
    layer.initialize(**init)
    return layer


def hybrid(layer: Any, **flags: Any) -> Any:
    layer.hybridize(**flags)
    return layer


def trainer(kind: str = "sgd", **settings: Any) -> Any:
    return gluon.Trainer(dense().collect_params(), kind, settings)


def exported(folder: Path) -> tuple[str, str]:
    layer = hybrid(dense())
    layer(nd.ones((1, 4)))
    layer.export(str(folder / "x"))
    return str(folder / "x-symbol.json"), str(folder / "x-0000.params")


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "shapes": (
        lambda: nd.ones((2, 3)) + nd.ones((3, 2)),
        r"^broadcast_add: expected shapes that broadcast.*got \(2, 3\) and \(3, 2\)",
    ),
    "layer input": (
        lambda: dense()(nd.ones((2, 5))),
        r"FullyConnected: expected data with 4 features, got 5 in data \(2, 5\)",
    ),
    "hybrid layer input": (
        lambda: hybrid(dense())(nd.ones((2, 5))),
        r"^Dense d: d_fwd: .*expected data with 4 features, got 5 in data \(2, 5\)",
    ),
    "dtypes": (
        lambda: nd.ones((2,)) + nd.ones((2,), dtype="float64"),
        r"expected arrays of equal dtype, got float32 and float64; .*astype",
    ),
    "layer dtype": (
        lambda: dense()(nd.ones((2, 4), dtype="int32")),
        r"^Dense d: FullyConnected: .*float32, got int32; .*astype",
    ),
    "dtype name": (lambda: nd.ones((2,), dtype="floaty"), r"got 'floaty'"),
    "contexts": (
        lambda: nd.ones((2,)) + nd.ones((2,), ctx=mx.cpu(1)),
        r"expected arrays on one device, got cpu\(0\), cpu\(1\); .*as_in_context",
    ),
    "layer context": (
        lambda: dense()(nd.ones((2, 4), ctx=mx.cpu(1))),
        r"d_weight: expected a context of \[cpu\(0\)\].*got cpu\(1\)",
    ),
    "context type": (lambda: dense(ctx=0), r"expected ctx as a Context.*got 0"),
    "not initialized": (
        lambda: nn.Dense(3, in_units=4, prefix="u_")(nd.ones((2, 4))),
        r"u_weight: expected an initialized parameter.*call initialize\(\)",
    ),
    "parameter name": (
        lambda: dense().collect_params()["d_wieght"],
        r"got 'd_wieght' \(nearest: 'd_weight'\)",
    ),
    "set_data": (
        lambda: dense().weight.set_data(nd.ones((2, 2))),
        r"d_weight: expected a shape that fits \(3, 4\), got \(2, 2\)",
    ),
    "grad_req": (
        lambda: setattr(dense().weight, "grad_req", "writ"),
        r"expected grad_req 'write', 'add' or 'null', got 'writ'",
    ),
    "initializer": (lambda: dense(init="xaviar"), r"expected one of .*xavier.*, got 'xaviar'"),
    "optimizer": (lambda: trainer("sdg"), r"expected one of .*sgd.*, got 'sdg'"),
    "static_shape alone": (
        lambda: hybrid(dense(), static_shape=True),
        r"expected static_alloc=True, which static_shape=True requires",
    ),
    "units": (lambda: nn.Dense(-1)(nd.ones((2, 4))), r"Dense: expected units of 1 or more, got -1"),
    "channels": (lambda: nn.Conv2D(0, 3), r"^Conv2D: expected channels .* 1 or more, got 0"),
    "activation": (
        lambda: nd.Activation(nd.ones((1,)), act_type="rely"),
        r"^Activation: expected act_type to be one of 'relu'.*got 'rely'",
    ),
    "operator argument": (
        lambda: nd.FullyConnected(nd.ones((1, 2)), nd.ones((1, 2)), num_hiden=1, no_bias=True),
        r"^FullyConnected: expected arguments among num_hidden.*got 'num_hiden'",
    ),
    "NumPy input": (lambda: dense()(np.ones((2, 4))), r"^Dense d: expected an NDArray.*nd.array"),
    "NumPy input to a graph": (
        lambda: hybrid(dense())(np.ones((2, 4))),
        r"^Dense d: expected an NDArray.*got numpy.ndarray",
    ),
    "unrecorded backward": (
        lambda: nd.ones((1,)).backward(),
        r"expected an array that autograd recorded.*autograd\.record\(\)",
    ),
    "branch on a value": (
        lambda: hybrid(nn.HybridLambda(lambda F, x: x if x.sum() > 0 else -x))(nd.ones((2,))),
        r"F\.where, or do not hybridize",
    ),
    "uneven split": (
        lambda: gluon.utils.split_and_load(nd.ones((5, 2)), [mx.cpu(0), mx.cpu(1)]),
        r"expected a size divisible by 2 along axis 0, got shape \(5, 2\)",
    ),
    "zoo name": (
        lambda: gluon.model_zoo.vision.get_model("resnet19_v1"),
        r"got 'resnet19_v1' \(nearest: ",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_error_that_says_what_to_do(mistake: str) -> None:
    action, message = MISTAKES[mistake]
    with pytest.raises(mx.MXNetError, match=message):
        action()


READERS: dict[str, Callable[[str], Any]] = {
    "nd.load": nd.load,
    "load_parameters": lambda path: dense().load_parameters(path),
    "ParameterDict.load": lambda path: dense().collect_params().load(path),
    "sym.load": mx.sym.load,
    "imports": lambda path: gluon.SymbolBlock.imports(path, ["data"]),
    "Trainer.load_states": lambda path: trainer(momentum=0.9).load_states(path),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_missing_file_is_named(reader: str, tmp_path: Path) -> None:
    path = str(tmp_path / "none")
    with pytest.raises(
        FileNotFoundError, match=r"expected an existing file, got '.*none'"
    ) as found:
        READERS[reader](path)
    assert isinstance(found.value, mx.MXNetError)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", [b"", b"hello world, this is some text", bytes(range(256))])
def test_a_file_of_another_kind_is_named(reader: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(mx.MXNetError, match=r"other: expected"):
        READERS[reader](str(path))


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_is_no_file(reader: str, tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match="expected a file, got the folder"):
        READERS[reader](str(tmp_path))


def test_truncated_weights_change_nothing(tmp_path: Path) -> None:
    path, layer = tmp_path / "w", dense(init="ones")
    layer.save_parameters(str(path))
    path.write_bytes(path.read_bytes()[:-5])
    other = dense(init="zeros")
    with pytest.raises(mx.MXNetError, match="truncated or corrupt"):
        other.load_parameters(str(path))
    assert not other.weight.data().asnumpy().any()


def test_a_wrong_input_name_is_told_which_there_are(tmp_path: Path) -> None:
    symbol_file, params_file = exported(tmp_path)
    with pytest.raises(mx.MXNetError, match=r"among \['data', 'd_weight', 'd_bias'\], got 'dat'"):
        gluon.SymbolBlock.imports(symbol_file, ["dat"], params_file)


def test_a_failed_save_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "w"
    dense().save_parameters(str(path))
    before = path.read_bytes()
    with pytest.raises(mx.MXNetError, match="expected an initialized parameter"):
        nn.Dense(2).save_parameters(str(path))
    with pytest.raises(mx.MXNetError, match="expected NDArrays, got int"):
        nd.save(str(path), {"a": nd.ones((1,)), "b": 3})
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_into_a_missing_folder_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match="make the folder first"):
        dense().save_parameters(str(tmp_path / "none" / "w"))
    with pytest.raises(mx.MXNetError, match="got the folder"):
        nd.save(str(tmp_path), nd.ones((1,)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: nn.Dense("a"), "^Dense: expected units to be an int, got 'a'"),
        (lambda: nn.Dense(3, in_units=1.5), "^Dense: expected in_units to be an int, got 1.5"),
        (lambda: nn.Conv2D("a", 3), "^Conv2D: expected channels to be an int, got 'a'"),
        (lambda: nn.Conv2D(3, None), "^Conv2D kernel_size: expected an int or 2 ints, got None"),
        (lambda: nn.Dropout("a"), "^Dropout: expected rate to be a number, got 'a'"),
        (lambda: mx.gluon.rnn.LSTM("a"), "^LSTM: expected hidden_size to be an int, got 'a'"),
    ],
)
def test_a_layer_refuses_what_is_no_number(made: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        made()


def test_an_operator_of_numpys_has_the_name_that_users_call_it_by() -> None:
    with pytest.raises(ValueError, match=r"^matmul: expected .* got \(2, 3\) and \(2, 3\)"):
        mx.np.ones((2, 3)) @ mx.np.ones((2, 3))


def test_a_name_that_no_operator_has_gets_a_hint() -> None:
    with pytest.raises(AttributeError, match=r"got 'relux' \(nearest: 'relu'"):
        nd.relux  # noqa: B018


def test_a_step_without_a_backward_pass_says_so() -> None:
    net = dense()
    message = "since the last step, got none, nor of any other parameter; call backward before"
    with pytest.raises(UserWarning, match=message):
        mx.gluon.Trainer(net.collect_params(), "sgd").step(1)


def test_an_error_names_the_block_and_where_it_stands() -> None:
    net = nn.HybridSequential()
    net.add(nn.HybridSequential())
    net[0].add(nn.Dense(5, in_units=4, prefix="d_"))
    net.initialize()
    with pytest.raises(
        ValueError, match=r"^Dense d \(net\[0\]\[0\]\): .* expected data with 4 features"
    ):
        net(nd.ones((2, 3)))
