"""What MXNet's programs read behind underscores, and what they catch. Expectations: MXNet 1.9.1."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.contrib import text


def test_arrays_of_a_parameter_are_lists_in_the_order_of_its_devices() -> None:
    weight = mx.gluon.Parameter("w", shape=(2, 3))
    assert weight._data is None
    assert weight._ctx_list is None
    weight.initialize(ctx=[mx.cpu(1), mx.cpu(0)])
    assert weight._data is not None
    assert weight._grad is not None
    assert weight._ctx_list == [mx.cpu(1), mx.cpu(0)]
    assert [x.context for x in weight._data] == [mx.cpu(1), mx.cpu(0)]
    assert [x.context for x in weight._grad] == [mx.cpu(1), mx.cpu(0)]
    assert weight._data[1] is weight.data(mx.cpu(0))
    assert weight._check_and_get(weight._grad, mx.cpu(0)) is weight.grad(mx.cpu(0))
    assert weight._check_and_get(weight._data, list) == weight.list_data()
    with pytest.raises(RuntimeError, match="w"):
        weight._check_and_get(weight._data, mx.cpu(4))


def network() -> Any:
    line = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="f")
    return mx.sym.SoftmaxOutput(line, name="softmax")


def data() -> mx.io.NDArrayIter:
    return mx.io.NDArrayIter(np.ones((4, 3)), np.zeros(4), 2)


@pytest.mark.parametrize(
    ("store", "devices", "kind", "in_store"),
    [("local", 1, None, False), ("local", 2, "KVStore", True), (None, 2, None, False)],
)
def test_module_shows_its_parts(store: Any, devices: int, kind: Any, in_store: bool) -> None:
    module = mx.mod.Module(network(), context=[mx.cpu(i) for i in range(devices)])
    for name in ("_arg_params", "_aux_params", "_exec_group", "_kvstore", "_update_on_kvstore"):
        assert getattr(module, name) is None
    module.bind(data().provide_data, data().provide_label)
    module.init_params()
    module.init_optimizer(kvstore=store)
    assert module._arg_params is not None
    assert module._exec_group is not None
    assert module._data_shapes is not None
    assert sorted(module._arg_params) == ["f_bias", "f_weight"]
    assert module._aux_params == {}
    assert len(module._exec_group.execs) == devices
    assert module._exec_group.param_names == ["f_weight", "f_bias"]
    assert (type(module._kvstore).__name__ if module._kvstore else None) == kind
    assert module._update_on_kvstore is in_store
    assert (module._updater is None) is in_store
    assert module._data_shapes[0].shape == (2, 3)
    assert module._preload_opt_states is None


def test_bucketing_module_shows_its_buckets() -> None:
    module = mx.mod.BucketingModule(
        lambda key: (network(), ("data",), ("softmax_label",)), default_bucket_key=3
    )
    assert module._curr_module is None
    module.bind(data().provide_data, data().provide_label)
    assert list(module._buckets) == [3]
    assert module._curr_module is module._buckets[3]


@pytest.mark.parametrize("devices", [1, 2])
def test_steps_of_training_over_stores(devices: int) -> None:
    from gluonish import model

    store, in_store = model._create_kvstore("device", devices, {"w": mx.nd.ones(2)})  # type: ignore[attr-defined]
    assert (store is None, in_store) == ((True, False) if devices == 1 else (False, True))
    weights = [[mx.nd.ones(2, ctx=mx.cpu(i)) for i in range(devices)]]
    gradients = [[mx.nd.ones(2, ctx=mx.cpu(i)) for i in range(devices)]]
    optimizer = mx.optimizer.create("sgd", learning_rate=0.1)
    if store is None:
        model._update_params(weights, gradients, mx.optimizer.get_updater(optimizer), devices)  # type: ignore[attr-defined]
    else:
        store.set_optimizer(optimizer)
        model._initialize_kvstore(store, weights, {"w": mx.nd.ones(2)}, ["w"], in_store)  # type: ignore[attr-defined]
        model._update_params_on_kvstore(weights, gradients, store, ["w"])  # type: ignore[attr-defined]
    for weight in weights[0]:
        np.testing.assert_allclose(weight.asnumpy(), 1 - 0.1 * devices, rtol=1e-6)


def test_gradient_requests_for_names_that_the_network_lacks_are_ignored() -> None:
    module = mx.mod.Module(network(), label_names=None)
    module.bind([("data", (2, 3))], grad_req={"data": "null", "f_weight": "write", "zz": "write"})
    assert module._exec_group is not None
    gradients = module._exec_group.execs[0].grad_dict
    assert {name for name, x in gradients.items() if x is not None} >= {"f_weight", "f_bias"}
    assert gradients.get("data") is None


def test_iterator_ignores_samples_beyond_those_of_the_first_array() -> None:
    batches = list(mx.io.NDArrayIter(np.ones((10, 2)), np.arange(20), 5))
    assert [batch.data[0].shape for batch in batches] == [(5, 2), (5, 2)]
    np.testing.assert_array_equal(batches[1].label[0].asnumpy(), [5, 6, 7, 8, 9])
    with pytest.raises(mx.MXNetError, match="expected at least 10 samples"):
        list(mx.io.NDArrayIter(np.ones((10, 2)), np.arange(7), 5))


def embedding(path: Path, lines: str) -> Any:
    path.write_text(lines, encoding="utf-8")
    return text.embedding.CustomEmbedding(str(path))


def test_first_row_of_a_composite_embedding_is_the_unknown_vector(tmp_path: Path) -> None:
    def unknown(shape: tuple[int, ...]) -> Any:
        return mx.nd.full(shape, 9)

    path = tmp_path / "e.txt"
    path.write_text("a 1 2\nb 3 4\n", encoding="utf-8")
    part = text.embedding.CustomEmbedding(str(path), init_unknown_vec=unknown)
    words = text.vocab.Vocabulary(Counter(["b"]), unknown_token="a")
    joined = text.embedding.CompositeEmbedding(words, [part, part])
    np.testing.assert_array_equal(joined.idx_to_vec.asnumpy(), [[9] * 4, [3, 4, 3, 4]])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: text.vocab.Vocabulary(Counter(), min_freq=0), AssertionError),
        (lambda: text.vocab.Vocabulary(Counter(), reserved_tokens=["x", "x"]), AssertionError),
        (lambda: text.embedding.get_pretrained_file_names("x"), KeyError),
        (lambda: text.embedding.create("glove", pretrained_file_name="x"), KeyError),
        (lambda: text.embedding.create("x"), AssertionError),
        (lambda: text.embedding.CustomEmbedding("/no/such/file"), ValueError),
        (lambda: mx.gluon.Parameter("w", shape=(2,), stype="x"), AssertionError),
        (lambda: mx.gluon.Parameter("w", shape=(2,), grad_req="x"), AssertionError),
        (lambda: mx.np.dot([1], [2]), AssertionError),
        (lambda: mx.metric.create("zz"), AssertionError),
        (lambda: mx.init.create("zz"), AssertionError),
        (lambda: mx.optimizer.create("zz"), ValueError),
        (lambda: mx.gluon.ParameterDict("p_")["zz"], KeyError),
        (lambda: mx.gluon.Trainer(3, "sgd"), ValueError),  # type: ignore[arg-type]  # the point
        (lambda: mx.gluon.data.ArrayDataset([1], [1, 2]), AssertionError),
        (lambda: mx.Context("zz"), KeyError),
        (lambda: mx.AttrScope(a=3), ValueError),  # type: ignore[arg-type]  # the point
        (lambda: mx.sym.contrib.foreach(lambda a, s: (s, s), *two_variables()), AssertionError),
    ],
)
def test_mistakes_are_of_the_class_that_mxnet_raises(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, mx.MXNetError)


def two_variables() -> tuple[Any, Any]:
    return mx.sym.var("d"), mx.sym.var("s")


def test_parameters_that_contradict_one_another_are_assertion_errors(tmp_path: Path) -> None:
    parameters = mx.gluon.ParameterDict("p_")
    parameters.get("w", shape=(2,))
    with pytest.raises(AssertionError, match="p_w"):
        parameters.get("w", shape=(3,))
    with pytest.raises(AssertionError, match="p_w"):
        parameters.get_constant("w", mx.nd.ones(1))
    path = str(tmp_path / "x.params")
    mx.nd.save(path, {"q": mx.nd.ones(1)})
    net = mx.gluon.nn.Dense(2)
    with pytest.raises(AssertionError, match=r"x\.params"):
        net.load_parameters(path)


def test_dense_copies_go_to_the_first_of_two_optimizers() -> None:
    """So that one that knows no sparse gradients is the reference of one that does."""

    class Dense(mx.optimizer.SGD):
        def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            assert weight.stype == grad.stype == "default"
            super().update_multi_precision(index, weight, grad, state)

    first, second = Dense(learning_rate=0.1), mx.optimizer.SGD(learning_rate=0.1)
    mx.test_utils.compare_optimizer(
        first, second, (3, 2), "float32", w_stype="row_sparse", g_stype="row_sparse"
    )


def test_more_output_gradients_than_outputs_are_not_looked_at() -> None:
    x = mx.sym.Variable("x")
    ones = np.ones(2, dtype="float32")
    mx.test_utils.check_symbolic_backward(x * 2, [ones], [ones, ones * 5], [ones * 2])


def test_hybridized_block_shows_inputs_and_outputs_of_its_graph() -> None:
    net = mx.gluon.nn.Dense(2)
    net.initialize()
    net.hybridize()
    assert net._cached_graph == ()
    net(mx.nd.ones((1, 2)))
    inputs, outputs = net._cached_graph
    assert [x.name for x in inputs] == ["data"]
    assert outputs.list_arguments() == ["data", f"{net.prefix}weight", f"{net.prefix}bias"]


def test_normalizations_show_their_settings() -> None:
    nn = mx.gluon.nn
    common = {"eps": 1e-5, "center": True}
    assert nn.LayerNorm()._kwargs == {**common, "axis": -1, "scale": True}
    assert nn.GroupNorm()._kwargs == {**common, "num_groups": 1, "scale": True}
    assert nn.InstanceNorm()._kwargs == {**common, "axis": 1, "scale": False}


def test_operators_behind_the_numpy_face() -> None:
    x = mx.np.arange(3)
    total = mx.nd.numpy._internal.add(x, x)
    assert type(total) is mx.np.ndarray
    np.testing.assert_array_equal(total.asnumpy(), [0, 2, 4])
    made = mx.sym.numpy._internal.add(mx.sym.var("a"), mx.sym.var("b"))
    assert made.list_arguments() == ["a", "b"]
    mask = mx.np.array([True, False, True], dtype="bool")
    out = mx.nd.numpy._internal.boolean_mask_assign_scalar(data=x, mask=mask, value=7.0, out=x)
    np.testing.assert_array_equal(out.asnumpy(), [7, 1, 7])


def test_array_mode_is_told_by_its_scope() -> None:
    assert mx.util._NumpyArrayScope._current.value._is_np_array is False
    with mx.util._NumpyArrayScope(True):
        assert mx.util.is_np_array()
        assert mx.util._NumpyArrayScope._current.value._is_np_array is True


class Nested(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, y: Any, z: Any = None) -> Any:
        return x + y[0], [x, (x * y[1],)]


def test_formats_tell_how_arrays_are_nested_in_the_newest_graphs_call() -> None:
    net = Nested()
    assert (net._in_format, net._out_format) == (None, None)
    x = mx.nd.ones(2)
    net(x, [x, x])
    assert (net._in_format, net._out_format) == (None, None)
    net.hybridize()
    net(x, [x, x])
    assert (net._in_format, net._out_format) == ([0, [0, 0]], [0, [0, [0]]])
    net(x, (x, x), None)
    assert (net._in_format, net._out_format) == ([0, [0, 0], -1], [0, [0, [0]]])
    dense = mx.gluon.nn.Dense(2)
    dense.initialize()
    dense.hybridize()
    dense(mx.nd.ones((1, 2)))
    assert (dense._in_format, dense._out_format) == ([0], 0)


def test_layers_register_their_parameters_one_by_one() -> None:
    class Doubled(mx.gluon.rnn.GRU):
        def _register_param(self, name: str, shape: Any, init: Any, dtype: Any) -> Any:
            names.append((name, shape, init, dtype))
            return super()._register_param(name, shape, init, dtype)

    names: list[Any] = []
    layer = Doubled(2, input_size=3, dtype="float64")
    assert names == [
        ("l0_i2h_weight", (6, 3), None, "float64"),
        ("l0_h2h_weight", (6, 2), None, "float64"),
        ("l0_i2h_bias", (6,), "zeros", "float64"),
        ("l0_h2h_bias", (6,), "zeros", "float64"),
    ]
    assert layer.l0_h2h_bias.shape == (6,)  # type: ignore[attr-defined]


def test_scope_of_a_block_is_its_name_scope() -> None:
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net._scope:
        assert mx.gluon.nn.Dense(2).name == "net_dense0"
