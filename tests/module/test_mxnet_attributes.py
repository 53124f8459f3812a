"""What programs for MXNet 1.9 read of modules; values and types are those that it showed."""

from collections import defaultdict
from typing import Any

import pytest

import gluonish as mx
from gluonish.contrib.svrg_optimization.svrg_module import SVRGModule
from gluonish.contrib.svrg_optimization.svrg_optimizer import _SVRGOptimizer
from gluonish.optimizer import SGD
from tests.module.networks import DATA, LABEL, batch, bound

TWO = [mx.cpu(0), mx.cpu(1)]


@pytest.mark.parametrize("grad_req", ["write", "add", {"fc1_weight": "add"}])
def test_a_module_shows_the_grad_req_that_it_was_bound_with(grad_req: Any) -> None:
    module = mx.mod.Module(bound()._symbol)
    assert module._grad_req is None
    module.bind(DATA, LABEL, grad_req=grad_req)
    assert module._grad_req == grad_req


def test_bytes_of_executors_are_0_as_in_mxnet() -> None:
    module = bound()
    assert module._total_exec_bytes == 0
    assert module._exec_group is not None
    assert module._exec_group._total_exec_bytes == 0
    assert mx.mod.SequentialModule()._total_exec_bytes == 0
    assert mx.mod.PythonLossModule()._total_exec_bytes == 0


@pytest.mark.parametrize("devices", [1, 2])
def test_shared_data_arrays_hold_inputs_and_no_weights(devices: int) -> None:
    module = bound(context=TWO[:devices])
    group = module._exec_group
    assert group is not None
    arrays = group.shared_data_arrays
    assert [sorted(each) for each in arrays] == [["data", "softmax_label"]] * devices
    module.forward_backward(batch())
    for device, each in enumerate(arrays):
        assert each["data"].context == TWO[device]
        assert each["data"].shape == group.data_arrays[0][device][1].shape


def test_buckets_share_the_arrays_of_inputs() -> None:
    symbol = bound()._symbol
    module = mx.mod.BucketingModule(
        lambda key: (symbol, ("data",), ("softmax_label",)),
        default_bucket_key=8,
        context=TWO,
        fixed_param_names=["fc1_bias"],
    )
    assert (module._grad_req, module._params_dirty, module._total_exec_bytes) == (None, False, 0)
    assert (module._context, module._work_load_list) == (TWO, None)
    assert (module._fixed_param_names, module._state_names) == (["fc1_bias"], [])
    assert (module._group2ctxs, module._compression_params) == (None, None)
    module.bind(DATA, LABEL)
    module.init_params()
    module.init_optimizer()
    assert module._grad_req == "write"
    module.switch_bucket(4, DATA, LABEL)
    groups = [each._exec_group for each in module._buckets.values()]
    assert groups[0].shared_data_arrays is groups[1].shared_data_arrays  # type: ignore[union-attr]
    module.forward_backward(batch())
    module.update()
    assert module._params_dirty is True


def test_an_svrg_module_shows_the_optimizer_around_the_one_that_updates() -> None:
    module = SVRGModule(bound()._symbol, update_freq=2)
    assert module._optimizer is None
    module.bind(DATA, LABEL)
    module.init_params()
    module.init_optimizer(optimizer_params={"learning_rate": 0.3})
    shown = module._optimizer
    assert isinstance(shown, _SVRGOptimizer)
    assert isinstance(shown.default_opt, SGD)
    assert module._optimizer is shown
    assert (shown.lr, shown.learning_rate, module._ctx_len) == (0.3, 0.3, 1)
    shown.lr = 0.1
    assert shown.default_opt.lr == 0.1
    module.forward_backward(batch())
    module.update()
    assert shown.num_update == shown.default_opt.num_update == 1


def test_both_devices_of_an_svrg_optimizer_count_alike() -> None:
    updater = mx.optimizer.get_updater(_SVRGOptimizer("adam"))
    for device in TWO:
        for _ in range(2):
            updater(0, mx.nd.ones(2, device), mx.nd.ones(2, device))
            updater.states_synced[0] = False
    assert updater.optimizer.default_opt.num_update == 2  # type: ignore[attr-defined]


def test_bodies_of_control_flow_are_counted_where_programs_clear_them() -> None:
    def body(data: Any, states: Any) -> Any:
        return data + states[0], states

    before = mx.AttrScope._subgraph_names
    mx.AttrScope._subgraph_names = defaultdict(int)
    try:
        for _ in range(2):
            mx.sym.contrib.foreach(body, mx.sym.var("a"), [mx.sym.var("b")])
        with mx.AttrScope(__subgraph_name__="outer"):
            mx.sym.contrib.foreach(body, mx.sym.var("a"), [mx.sym.var("b")], name="inner")
        assert mx.AttrScope._subgraph_names == {"foreach": 2, "outer$inner": 1}
    finally:
        mx.AttrScope._subgraph_names = before
