import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError, MissingFileError
from gluonish.io import DataBatch, DataDesc
from gluonish.kvstore import KVStore
from gluonish.module import Module
from gluonish.module.descriptions import ModuleStateError
from tests.module.networks import (
    DATA,
    INPUTS,
    LABEL,
    ROWS,
    SGD,
    TWO,
    assert_same,
    batch,
    bound,
    mlp,
    numpy_of,
    trained,
    values,
    weights,
)

CALLS = {
    "data_shapes": lambda m: m.data_shapes,
    "label_shapes": lambda m: m.label_shapes,
    "output_shapes": lambda m: m.output_shapes,
    "get_params": lambda m: m.get_params(),
    "init_params": lambda m: m.init_params(),
    "set_params": lambda m: m.set_params({}, {}),
    "forward": lambda m: m.forward(batch()),
    "backward": lambda m: m.backward(),
    "update": lambda m: m.update(),
    "get_outputs": lambda m: m.get_outputs(),
    "get_input_grads": lambda m: m.get_input_grads(),
    "get_states": lambda m: m.get_states(False),
    "set_states": lambda m: m.set_states(value=1),
    "install_monitor": lambda m: m.install_monitor(mx.mon.Monitor(1)),
    "prepare": lambda m: m.prepare(batch()),
    "init_optimizer": lambda m: m.init_optimizer(),
    "borrow_optimizer": lambda m: m.borrow_optimizer(m),
    "save_optimizer_states": lambda m: m.save_optimizer_states("x"),
    "load_optimizer_states": lambda m: m.load_optimizer_states("x"),
    "save_params": lambda m: m.save_params("x"),
    "save_checkpoint": lambda m: m.save_checkpoint("x", 1),
    "reshape": lambda m: m.reshape(DATA),
    "score": lambda m: m.score(None, "acc"),
    "predict": lambda m: m.predict(None),
    "update_metric": lambda m: m.update_metric(mx.metric.Accuracy(), batch().label),
}
BEFORE_WEIGHTS = (
    *("get_params", "forward", "backward", "update", "get_outputs", "get_input_grads"),
    *("get_states", "set_states", "init_optimizer", "score", "predict", "save_params"),
)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_before_bind_is_refused(name: str) -> None:
    with pytest.raises(ModuleStateError, match="call bind first"):
        CALLS[name](Module(mlp()))


@pytest.mark.parametrize("name", BEFORE_WEIGHTS)
def test_a_call_before_weights_is_refused(name: str) -> None:
    module = Module(mlp())
    module.bind(DATA, LABEL)
    with pytest.raises(ModuleStateError, match="call init_params or set_params first"):
        CALLS[name](module)


@pytest.mark.parametrize("name", ["update", "save_optimizer_states", "borrow_optimizer"])
def test_a_call_before_the_optimizer_is_refused(name: str) -> None:
    with pytest.raises(ModuleStateError, match="call init_optimizer first"):
        CALLS[name](bound())


def test_an_unbound_module_raises_what_programs_for_mxnet_catch() -> None:
    with pytest.raises(AssertionError):
        Module(mlp()).forward(batch())


@pytest.mark.parametrize("what", ["data_names", "state_names", "fixed_param_names"])
def test_a_name_that_the_network_lacks_is_refused(what: str) -> None:
    with pytest.raises(ArgumentError, match=rf"expected {what} among .* got 'fc1_wight' \(nearest"):
        Module(mlp(), **{what: ["fc1_wight"]})


def test_a_label_that_the_network_lacks_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="expected label_names among"):
        Module(mlp(), label_names=["y"])


def test_there_is_a_load_for_each_device() -> None:
    with pytest.raises(ArgumentError, match="expected work_load_list with a load for each"):
        Module(mlp(), context=TWO, work_load_list=[1])


def test_names_of_shapes_are_those_of_the_data() -> None:
    with pytest.raises(ArgumentError, match=r"expected data_shapes for \['data'\]"):
        Module(mlp()).bind([("x", (4, 5))], LABEL)


def test_training_without_labels_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="expected label_shapes for"):
        Module(mlp()).bind(DATA)


def test_predicting_without_labels_is_not_warned_of() -> None:
    Module(mlp()).bind(DATA, for_training=False)


def test_inputs_have_no_gradient_without_training() -> None:
    with pytest.raises(ArgumentError, match="expected inputs_need_grad=False"):
        Module(mlp()).bind(DATA, for_training=False, inputs_need_grad=True)


def test_binding_twice_is_logged_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    module = bound()
    module.bind([("data", (2, INPUTS))], [("softmax_label", (2,))])
    assert caplog.messages == ["Already bound, ignoring bind()"]
    assert module.data_shapes == [DataDesc("data", (ROWS, INPUTS))]


def test_binding_anew_keeps_what_was_trained() -> None:
    module = bound()
    wanted = trained(module)
    module.bind([("data", (2, INPUTS))], [("softmax_label", (2,))], force_rebind=True)
    assert_same(numpy_of(module.get_params()[0]), wanted, 0)
    module.forward(batch(2), is_train=False)
    other = bound()
    other.set_params(module.get_params()[0], {})
    other.forward(batch(2), is_train=False)
    np.testing.assert_array_equal(
        module.get_outputs()[0].asnumpy(), other.get_outputs()[0].asnumpy()
    )


def test_arrays_with_other_batches_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected 8 examples in each array, got 7 in soft"):
        Module(mlp()).bind(DATA, [("softmax_label", (7,))])


@pytest.mark.parametrize(
    ("requests", "message"),
    [(["write"], "expected one for each of 6")],
)
def test_gradient_requests_are_those_of_arguments(requests: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Module(mlp()).bind(DATA, LABEL, grad_req=requests)


def test_a_batch_of_other_shape_is_welcome_and_memory_stays() -> None:
    module = bound()
    arrays = module._exec_group.param_arrays
    for rows in (4, ROWS, 4):
        module.forward(batch(rows), is_train=False)
        assert module.get_outputs()[0].shape == (rows, 3)
    assert all(
        before[0] is after[0]
        for before, after in zip(arrays, module._exec_group.param_arrays, strict=True)
    )


def test_a_shape_that_came_before_has_its_executor_still() -> None:
    module = bound()
    module.forward(batch(4))
    small = module._exec_group.execs
    module.forward(batch(ROWS))
    module.forward(batch(4))
    assert module._exec_group.execs is small


def test_a_batch_that_changes_weights_is_refused_and_the_module_goes_on() -> None:
    module = bound()
    with pytest.raises(ArgumentError, match="expected fc1_weight to keep its shape"):
        module.forward(batch(4, inputs=7))
    assert module.data_shapes[0].shape == (ROWS, INPUTS)
    module.forward(batch())
    assert module.get_outputs()[0].shape == (ROWS, 3)


def test_a_batch_without_data_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"expected a batch with data for .* got 0"):
        bound().forward(DataBatch([], None))


def test_arrays_beyond_the_names_are_not_looked_at() -> None:
    module, alone = bound(), bound()
    alone.set_params(*module.get_params())
    data = values((ROWS, INPUTS), 1)
    module.forward(DataBatch([data, data * 2], None))
    alone.forward(DataBatch([data], None))
    np.testing.assert_array_equal(
        module.get_outputs()[0].asnumpy(), alone.get_outputs()[0].asnumpy()
    )


def test_an_array_is_predicted_though_the_module_has_labels() -> None:
    """MXNet fails where the array's rows are not those of a batch."""
    module = bound(context=TWO, work_load_list=[3, 1])
    rows = values((5, INPUTS), 3)
    found = module.predict(rows)
    module.forward(DataBatch([rows], None), is_train=False)
    np.testing.assert_array_equal(found.asnumpy(), module.get_outputs()[0].asnumpy())


def test_sparse_and_numpy_data_are_taken() -> None:
    module = bound()
    rows = values((ROWS, INPUTS), 3)
    outputs = []
    for given in (rows, rows.tostype("csr"), rows.asnumpy()):
        module.forward(DataBatch([given], None), is_train=False)
        outputs.append(module.get_outputs()[0].asnumpy())
    np.testing.assert_array_equal(outputs[0], outputs[1])
    np.testing.assert_array_equal(outputs[0], outputs[2])


def test_a_list_of_batches_has_one_for_each_device() -> None:
    module, whole = bound(context=TWO), bound()
    data = batch()
    whole.forward(data, is_train=False)
    parts = [
        DataBatch([data.data[0][part]], [data.label[0][part]])
        for part in (slice(0, 4), slice(4, 8))
    ]
    module.forward(parts, is_train=False)
    wanted = whole.get_outputs()[0].asnumpy()
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), wanted, atol=1e-6)
    metric, other = mx.metric.CrossEntropy(), mx.metric.CrossEntropy()
    module.update_metric(metric, [part.label for part in parts], pre_sliced=True)
    whole.update_metric(other, data.label)
    assert metric.get()[1] == pytest.approx(other.get()[1])


def test_a_layout_tells_the_axis_of_the_batch() -> None:
    symbol = mx.sym.BlockGrad(mx.sym.var("data") * 2, name="out")
    symbol._set_attr(__layout__="TN")
    module = Module(symbol, label_names=None, context=TWO)
    module.bind([DataDesc("data", (3, 4), layout="TN")], for_training=False)
    module.init_params()
    data = values((3, 4), 1)
    module.forward(DataBatch([data], None))
    assert [part.shape for part in module.get_outputs(False)[0]] == [(3, 2), (3, 2)]
    np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), data.asnumpy() * 2)
    assert module.output_shapes == [("out_output", (3, 4))]


def test_data_without_a_batch_go_to_every_device() -> None:
    module = Module(mx.sym.BlockGrad(mx.sym.var("data") * 2), label_names=None, context=TWO)
    module.bind([DataDesc("data", (3, 4), layout="TC")], for_training=False)
    module.init_params()
    module.forward(DataBatch([values((3, 4), 1)], None))
    assert [part.shape for part in module.get_outputs(False)[0]] == [(3, 4), (3, 4)]


@pytest.mark.parametrize("store", ["local", "device"])
@pytest.mark.parametrize("loads", [None, [3, 1]])
def test_several_devices_equal_one(store: str, loads: list[int] | None) -> None:
    wanted = trained(bound())
    assert_same(trained(bound(context=TWO, work_load_list=loads), kvstore=store), wanted, 1e-5)


def test_without_a_store_devices_part_and_their_mean_is_given() -> None:
    module = bound(context=TWO)
    found = trained(module, 2, kvstore=None)
    pair = module._exec_group.param_arrays[0]
    first, second = (x.asnumpy() for x in pair)
    assert abs(first - second).max() > 1e-4
    np.testing.assert_allclose(found["fc1_weight"], (first + second) / 2, atol=1e-7)


def test_updates_outside_the_store_equal_those_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = trained(bound(context=TWO))
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    module = bound(context=TWO)
    assert_same(trained(module), wanted, 1e-6)
    assert module._optimizer.idx2name[3] == "fc1_bias"  # weight 1 on device 1


def test_one_device_needs_no_store() -> None:
    module = bound()
    module.init_optimizer(kvstore="device")
    assert module._updates.store is None
    other = bound(context=TWO)
    other.init_optimizer(kvstore="device")
    assert isinstance(other._updates.store, KVStore)


def test_gradients_are_divided_by_the_batch() -> None:
    for settings, wanted in (({}, 1 / ROWS), ({"rescale_grad": 2.0}, 2.0)):
        module = bound(context=TWO)
        module.init_optimizer(optimizer_params=settings)
        assert module._optimizer.rescale_grad == wanted


def test_an_optimizer_with_another_scale_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"expected an Optimizer with rescale_grad=0\.125"):
        bound().init_optimizer(optimizer=mx.optimizer.SGD())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound().init_optimizer(optimizer=mx.optimizer.SGD(rescale_grad=1 / ROWS))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"optimizer": 3}, ArgumentTypeError, "expected an Optimizer or a name, got 3"),
        ({"optimizer": "foo"}, ArgumentError, "foo"),
        ({"optimizer_params": {"foo": 1}}, TypeError, "foo"),
        ({"kvstore": 3}, ArgumentTypeError, "expected kvstore to be a KVStore, a name or None"),
    ],
)
def test_a_wrong_optimizer_or_store_is_refused(
    settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        bound().init_optimizer(**settings)


def test_an_optimizer_is_replaced_only_by_force(caplog: pytest.LogCaptureFixture) -> None:
    module = bound()
    module.init_optimizer(optimizer="adam")
    first = module._optimizer
    module.init_optimizer()
    assert caplog.messages == ["optimizer already initialized, ignoring..."]
    assert module._optimizer is first
    module.init_optimizer(force_init=True)
    assert type(module._optimizer).__name__ == "SGD"


def test_gradients_can_be_compressed() -> None:
    module = bound(context=TWO, compression_params={"type": "2bit", "threshold": 0.01})
    found = trained(module, kvstore="device")
    plain = trained(bound(context=TWO), kvstore="device")
    assert abs(found["fc2_bias"] - plain["fc2_bias"]).max() > 1e-4


def test_a_module_shares_the_weights_of_another() -> None:
    module = bound(context=TWO)
    module.init_optimizer(optimizer_params=SGD)
    other = Module(mlp(), context=TWO)
    other.bind([("data", (4, INPUTS))], [("softmax_label", (4,))], shared_module=module)
    ours, theirs = other._exec_group.execs[1], module._exec_group.execs[1]
    assert ours.arg_dict["fc1_weight"] is theirs.arg_dict["fc1_weight"]
    assert ours.grad_dict["fc1_weight"] is theirs.grad_dict["fc1_weight"]
    assert np.shares_memory(ours.arg_dict["data"]._data, theirs.arg_dict["data"]._data)
    other.forward_backward(batch(4))
    other.update()
    # In MXNet the first module shows what it had before.
    assert_same(numpy_of(module.get_params()[0]), numpy_of(other.get_params()[0]), 0)
    assert (
        abs(module.get_params()[0]["fc2_bias"].asnumpy() - weights()["fc2_bias"].asnumpy()).max()
        > 0
    )


def test_gradients_of_modules_that_share_add_up() -> None:
    module = bound(grad_req="add")
    other = Module(mlp())
    other.bind(DATA, LABEL, shared_module=module, grad_req="add")
    module.forward_backward(batch(seed=1))
    other.forward_backward(batch(seed=2))
    both = module._exec_group.grad_arrays[1][0].asnumpy()
    apart = []
    for seed in (1, 2):
        one = bound()
        one.forward_backward(batch(seed=seed))
        apart.append(one._exec_group.grad_arrays[1][0].asnumpy())
    np.testing.assert_allclose(both, apart[0] + apart[1], atol=1e-5)


def test_weights_of_another_shape_cannot_be_shared() -> None:
    other = Module(mlp(hidden=7))
    with pytest.raises(ArgumentError, match=r"expected fc1_weight of shape \(6, 5\), that of the"):
        other.bind(DATA, LABEL, shared_module=bound())


def test_a_module_without_weights_cannot_be_shared() -> None:
    with pytest.raises(ModuleStateError, match="expected a shared_module with weights"):
        Module(mlp()).bind(DATA, LABEL, shared_module=Module(mlp()))


def test_only_a_module_can_be_shared() -> None:
    with pytest.raises(ArgumentTypeError, match="expected shared_module to be a Module, got int"):
        Module(mlp()).bind(DATA, LABEL, shared_module=3)  # type: ignore[arg-type]


def test_an_optimizer_is_borrowed_for_some_of_the_weights_in_any_order() -> None:
    """Each weight has its own state there, whatever its place in the other network is."""
    data = mx.sym.var("data")
    swapped = mx.sym.Group(
        [
            mx.sym.SoftmaxOutput(
                mx.sym.FullyConnected(data, num_hidden=3, name=name), name=f"{name}_softmax"
            )
            for name in ("b", "a")
        ]
    )
    names = ["b_softmax_label", "a_softmax_label"]
    module = Module(swapped, label_names=names)
    module.bind(DATA, [(name, (ROWS,)) for name in names])
    module.init_params(mx.init.Zero())
    module.init_optimizer(optimizer_params=SGD)
    part = mx.sym.SoftmaxOutput(
        mx.sym.FullyConnected(data, num_hidden=3, name="a"), name="a_softmax"
    )
    other = Module(part, label_names=["a_softmax_label"])
    other.bind(DATA, [("a_softmax_label", (ROWS,))], shared_module=module)
    other.forward_backward(batch())
    other.update()
    found = numpy_of(module.get_params()[0])
    assert abs(found["a_weight"]).max() > 0
    assert abs(found["b_weight"]).max() == 0
    assert sorted(module._updates._updater.states) == [2, 3]


def test_an_optimizer_that_lacks_a_weight_is_not_borrowed() -> None:
    module = bound()
    module.init_optimizer()
    other = Module(
        mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc7"), label_names=None
    )
    other.bind(DATA)
    other.init_params()
    with pytest.raises(ArgumentError, match=r"expected weights among .* got fc7_weight"):
        other.borrow_optimizer(module)


def test_a_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="none-symbol"):
        Module.load(str(tmp_path / "none"), 1)


def test_a_checkpoint_whose_states_cannot_be_written_leaves_the_former(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = bound()
    module.init_optimizer()
    module.save_checkpoint(str(tmp_path / "net"), 1, save_optimizer_states=True)
    former = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(former) == 3
    weights, others = module.get_params()
    module.set_params({name: value + 1 for name, value in weights.items()}, others)

    def fail(fname: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(module, "save_optimizer_states", fail)
    with pytest.raises(OSError, match="disk full"):
        module.save_checkpoint(str(tmp_path / "net"), 1, save_optimizer_states=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == former


def test_a_file_of_arrays_without_names_is_refused(tmp_path: Path) -> None:
    mx.nd.save(str(tmp_path / "a.params"), [mx.nd.ones(1)])
    with pytest.raises(FileFormatError, match="expected arrays with names"):
        bound().load_params(str(tmp_path / "a.params"))


def test_saving_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    module = bound()
    module.init_optimizer()
    prefix = str(tmp_path / "net")
    with caplog.at_level(logging.INFO):
        module.save_checkpoint(prefix, 2, save_optimizer_states=True)
    assert caplog.messages == [
        f'Saved checkpoint to "{prefix}-0002.params"',
        f'Saved optimizer state to "{prefix}-0002.states"',
    ]


def test_states_of_one_device_go_on_in_a_store(tmp_path: Path) -> None:
    prefix, module = str(tmp_path / "net"), bound()
    trained(module, 2)
    module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    again = Module.load(prefix, 1, load_optimizer_states=True, context=TWO)
    again.bind(DATA, LABEL)
    again.init_optimizer(optimizer_params=SGD)
    for one in (module, again):
        one.forward_backward(batch(seed=5))
        one.update()
    assert_same(numpy_of(again.get_params()[0]), numpy_of(module.get_params()[0]), 1e-6)


def test_states_of_a_store_go_on_on_devices_that_update_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix, module = str(tmp_path / "net"), bound(context=TWO)
    trained(module, 2)
    module.save_checkpoint(prefix, 1, save_optimizer_states=True)
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    again = Module.load(prefix, 1, load_optimizer_states=True, context=TWO)
    again.bind(DATA, LABEL)
    again.init_optimizer(optimizer_params=SGD)
    states = again._updates._updater.states
    assert states[0] is not states[1]
    for one in (module, again):
        one.forward_backward(batch(seed=5))
        one.update()
    assert_same(numpy_of(again.get_params()[0]), numpy_of(module.get_params()[0]), 1e-6)


def test_the_name_of_a_store_that_is_not_needed_is_not_looked_at() -> None:
    module = bound()
    module.init_optimizer(kvstore="foo")
    assert module._kvstore is None
    with pytest.raises(ArgumentError, match="foo"):
        bound(context=TWO).init_optimizer(kvstore="foo")
