import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError
from gluonish.onnx.exporting import proto
from gluonish.onnx.exporting.package import newest_opset
from tests.onnx.exporting.judge import evaluated


@pytest.fixture
def net() -> Any:
    mx.random.seed(1)
    block = mx.gluon.nn.HybridSequential(prefix="net_")
    with block.name_scope():
        block.add(mx.gluon.nn.Conv2D(4, 3, padding=1, in_channels=3))
        block.add(mx.gluon.nn.BatchNorm(in_channels=4, scale=False))
        block.add(mx.gluon.nn.Activation("relu"), mx.gluon.nn.Dropout(0.5))
        block.add(mx.gluon.nn.GlobalAvgPool2D(), mx.gluon.nn.Dense(5, in_units=4))
    block.initialize(mx.init.Uniform(0.5))
    return block


@pytest.fixture
def picture() -> Any:
    return mx.nd.array(np.random.default_rng(0).random((2, 3, 6, 6)))


def _close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("hybridized", [False, True])
def test_a_block_is_traced(net: Any, picture: Any, hybridized: bool, tmp_path: Path) -> None:
    wanted = net(picture).asnumpy()
    if hybridized:
        net.hybridize()
        net(picture)
    path = mx.onnx.export_model(net, None, [picture.shape], np.float32, str(tmp_path / "n.onnx"))
    _close(evaluated(path, [picture.asnumpy()])[0], wanted)


def test_a_block_that_waits_for_its_shapes_gets_them(tmp_path: Path) -> None:
    net = mx.gluon.nn.Dense(3)
    net.initialize()
    path = mx.onnx.export_model(net, None, [(2, 7)], onnx_file_path=str(tmp_path / "n.onnx"))
    x = np.ones((2, 7), np.float32)
    _close(evaluated(path, [x])[0], net(mx.nd.array(x)).asnumpy())


def test_files_are_exported_under_the_names_of_the_symbol(
    net: Any, picture: Any, tmp_path: Path
) -> None:
    net.hybridize()
    wanted = net(picture).asnumpy()
    symbol, params = net.export(str(tmp_path / "net"))
    path = mx.onnx.export_model(symbol, params, [picture.shape], np.float32, str(tmp_path / "n"))
    _close(evaluated(path, [picture.asnumpy()])[0], wanted)
    graph = onnx.load(path).graph
    loaded = mx.sym.load(symbol)
    assert [x.name for x in graph.input] == ["data"]
    assert [x.name for x in graph.output] == loaded.list_outputs()
    weights = {x.name for x in graph.initializer} & set(loaded.list_inputs())
    assert weights == set(loaded.list_inputs()) - {"data", "net_batchnorm0_gamma"}


def test_labels_of_output_operators_are_no_inputs(tmp_path: Path) -> None:
    data = mx.sym.var("data")
    sym = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=3, name="fc"), name="softmax")
    weights = {"arg:fc_weight": mx.nd.ones((3, 4)), "arg:fc_bias": mx.nd.array([1, 2, 3])}
    for shapes in ([(2, 4)], [(2, 4), (2,)]):
        path = mx.onnx.export_model(sym, weights, shapes, np.float32, str(tmp_path / "n.onnx"))
        graph = onnx.load(path).graph
        assert [x.name for x in graph.input] == ["data"]
        assert [x.name for x in graph.output] == ["softmax_output"]
        (y,) = evaluated(path, [np.ones((2, 4), np.float32)])
        _close(y.sum(1), [1, 1])


@pytest.mark.parametrize("opset", range(13, newest_opset() + 1))
def test_every_opset_gives_the_same(net: Any, picture: Any, opset: int, tmp_path: Path) -> None:
    path = str(tmp_path / "n.onnx")
    mx.onnx.export_model(net, None, [picture.shape], np.float32, path, opset_version=opset)
    assert onnx.load(path).opset_import[0].version == opset
    onnx.checker.check_model(path, full_check=True)
    if opset > 13:  # for which onnx's evaluator takes the batch's own statistics
        _close(evaluated(path, [picture.asnumpy()])[0], net(picture).asnumpy())


@pytest.mark.parametrize("opset", [12, newest_opset() + 1, "13"])
def test_other_opsets_are_refused(net: Any, opset: Any, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="opset_version from 13 to"):
        mx.onnx.export_model(
            net, None, [(1, 3, 6, 6)], np.float32, str(tmp_path / "n"), opset_version=opset
        )


def test_dynamic_axes_take_any_size(net: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "n.onnx")
    mx.onnx.export_model(
        *(net, None, [(1, 3, 6, 6)], np.float32, path),
        dynamic=True,
        dynamic_input_shapes=[("batch", 3, None, None)],
    )
    dims = onnx.load(path).graph.input[0].type.tensor_type.shape.dim
    assert [dim.dim_param or dim.dim_value for dim in dims] == [
        *("batch", 3, "input0_axis2", "input0_axis3")
    ]
    x = np.random.default_rng(0).random((5, 3, 9, 7), np.float32)
    _close(evaluated(path, [x])[0], net(mx.nd.array(x)).asnumpy())


def test_large_weights_stand_in_a_file_beside_it(
    net: Any, picture: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proto, "LARGEST_MESSAGE", 100)
    monkeypatch.setattr(proto, "SMALLEST_OUTSIDE", 64)
    path = str(tmp_path / "n.onnx")
    mx.onnx.export_model(net, None, [picture.shape], np.float32, path)
    assert sorted(x.name for x in tmp_path.iterdir()) == ["n.onnx", "n.onnx.data"]
    onnx.checker.check_model(path, full_check=True)
    _close(evaluated(path, [picture.asnumpy()])[0], net(picture).asnumpy())


def test_all_that_cannot_be_expressed_is_named(tmp_path: Path) -> None:
    x = mx.sym.var("x")
    sym = mx.sym.Group(
        [
            mx.sym.contrib.count_sketch(x, x, x, out_dim=3, name="sketch"),
            mx.sym.shuffle(x, name="mix"),
        ]
    )
    with pytest.raises(
        NotSupportedError, match=r"(?s)2 that it cannot.*in node sketch.*in node mix"
    ):
        mx.onnx.export_model(sym, {}, [(1, 4)], np.float32, str(tmp_path / "n.onnx"))
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_where_writing_fails(net: Any, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        mx.onnx.export_model(net, None, [(1, 3, 6, 6)], np.float32, str(tmp_path / "none" / "n"))
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named(
    net: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(NotSupportedError, match=r"pip install 'gluonish\[onnx\]'"):
        mx.onnx.export_model(net, None, [(1, 3, 6, 6)], np.float32, str(tmp_path / "n"))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (("net", None, None), ArgumentError, "expected in_shapes"),
        (("net", 3, [(1, 3, 6, 6)]), ArgumentTypeError, "expected params to be a dict"),
        ((3, {}, [(1, 3)]), ArgumentTypeError, "expected sym to be a Symbol"),
        (("net", None, [(1, 3, 6, 6)], [np.float32] * 2), ArgumentError, "one of in_types"),
        (("net", None, 5), ArgumentError, "list of shapes"),
    ],
)
def test_wrong_arguments_are_named(net: Any, given: Any, error: Any, words: str) -> None:
    given = tuple(net if isinstance(x, str) else x for x in given)
    with pytest.raises(error, match=words):
        mx.onnx.export_model(*given)


def test_the_number_of_shapes_is_that_of_the_inputs(tmp_path: Path) -> None:
    sym = mx.sym.var("a") + mx.sym.var("b")
    with pytest.raises(ArgumentError, match=r"\['a', 'b'\], got 1"):
        mx.onnx.export_model(sym, {}, [(1,)], np.float32, str(tmp_path / "n"))


def test_verbose_logs_the_nodes(net: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    mx.onnx.export_model(net, None, [(1, 3, 6, 6)], np.float32, str(tmp_path / "n"), True)
    assert "Gemm" in caplog.text


def test_older_names_of_arguments_and_half_precision(net: Any, tmp_path: Path) -> None:
    net.cast("float16")
    path = str(tmp_path / "n.onnx")
    mx.onnx.export_model(
        net, None, onnx_file_path=path, input_shape=[(1, 3, 6, 6)], input_type="float16"
    )
    x = np.random.default_rng(0).random((1, 3, 6, 6)).astype(np.float16)
    (y,) = evaluated(path, [x])
    assert y.dtype == np.float16
    np.testing.assert_allclose(
        y, net(mx.nd.array(x, dtype="float16")).asnumpy(), rtol=1e-2, atol=1e-2
    )


def test_supported_operators_are_listed() -> None:
    names = mx.onnx.get_operator_support()
    assert names == sorted(names)
    assert {"Convolution", "BatchNorm", "softmax"} <= set(names)
    with pytest.raises(ArgumentError, match="opset_version"):
        mx.onnx.get_operator_support(3)


@pytest.mark.parametrize(
    ("repeats", "axis"), [([1, 2], 0), ([2, 0, 1], 1), ([3], None), ([1, 2, 0, 1, 0, 2], None)]
)
def test_repeats_of_each_position_are_exported(
    repeats: list[int], axis: int | None, tmp_path: Path
) -> None:
    symbol = mx.sym.np.repeat(mx.sym.var("x").as_np_ndarray(), repeats, axis=axis)
    path = str(tmp_path / "repeats.onnx")
    mx.onnx.export_model(symbol, {}, [(2, 3)], np.float32, path)
    read, arguments, _ = mx.contrib.onnx.import_model(path)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (found,) = read.eval(x=mx.nd.array(x), **arguments)
    np.testing.assert_array_equal(found.asnumpy(), np.repeat(x, repeats, axis))


def test_column_of_a_bias_and_slopes_by_sample_are_exported(tmp_path: Path) -> None:
    r = np.random.default_rng(0)
    dense = mx.sym.FullyConnected(mx.sym.var("x"), mx.sym.var("w"), mx.sym.var("b"), num_hidden=4)
    symbol = mx.sym.LeakyReLU(dense.reshape((0, 2, 2)), mx.sym.var("g"), act_type="prelu")
    shapes = {"w": (4, 3), "b": (4, 1), "g": (1, 2)}
    given = {name: mx.nd.array(r.standard_normal(shape)) for name, shape in shapes.items()}
    path = str(tmp_path / "column.onnx")
    mx.onnx.export_model(symbol, given, [(2, 3)], np.float32, path)
    read, arguments, _ = mx.contrib.onnx.import_model(path)
    x = mx.nd.array(r.standard_normal((2, 3)))
    expected = symbol.eval(x=x, **given)[0].asnumpy()
    np.testing.assert_allclose(read.eval(x=x, **arguments)[0].asnumpy(), expected, rtol=1e-5)


def test_random_numbers_without_a_shape_are_exported_in_that_of_their_reader(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "noise.onnx")
    symbol = mx.sym.random.normal(10, 0.5) + mx.sym.var("x")
    mx.onnx.export_model(symbol, {}, [(40, 50)], np.float32, path)
    read, arguments, _ = mx.contrib.onnx.import_model(path)
    (drawn,) = read.eval(x=mx.nd.zeros((40, 50)), **arguments)
    assert len(np.unique(drawn.asnumpy())) > 1900
