from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import io
from gluonish.core.errors import ArgumentError, FileFormatError
from gluonish.io import DataBatch, DataIter
from gluonish.module import BucketingModule
from gluonish.module.descriptions import ModuleStateError
from tests.golden.module_programs import bucket, first_weights, unrolled

DATA, LABEL = [("data", (6, 4, 2))], [("softmax_label", (6,))]


def generated(length: int) -> Any:
    return unrolled(mx, length)


def bound(**settings: Any) -> BucketingModule:
    module = BucketingModule(generated, 4, **settings)
    module.bind(DATA, LABEL)
    module.init_params(None, first_weights(mx, module.symbol, data=(6, 4, 2))[0])
    return module


def batch(length: int, seed: int = 0) -> DataBatch:
    return bucket(SimpleNamespace(nd=mx.nd, io=io), length, seed)


def test_a_default_bucket_is_needed() -> None:
    with pytest.raises(ArgumentError, match="expected default_bucket_key, got None"):
        BucketingModule(generated)


def test_names_are_known_before_it_is_bound() -> None:
    module = BucketingModule(generated, 4)
    assert list(module.data_names) == ["data"]
    assert module.output_names == ["softmax_output"]


@pytest.mark.parametrize("what", ["data_shapes", "label_shapes", "output_shapes", "symbol"])
def test_the_rest_is_not(what: str) -> None:
    with pytest.raises(ModuleStateError, match="call bind first"):
        getattr(BucketingModule(generated, 4), what)


def test_a_sym_gen_may_return_a_symbol_only() -> None:
    module = BucketingModule(lambda length: generated(length)[0], 4)
    assert list(module.data_names) == ["data"]


def test_a_shared_module_is_refused() -> None:
    with pytest.raises(ArgumentError, match="expected shared_module=None"):
        BucketingModule(generated, 4).bind(DATA, LABEL, shared_module=bound())


def test_buckets_share_weights_gradients_and_memory() -> None:
    module = bound()
    module.forward_backward(batch(4))
    large = module._buckets[4]._exec_group.execs[0]
    module.forward_backward(batch(2))
    small = module._buckets[2]._exec_group.execs[0]
    assert small.arg_dict["state_weight"] is large.arg_dict["state_weight"]
    assert small.grad_dict["state_weight"] is large.grad_dict["state_weight"]
    assert np.shares_memory(small.arg_dict["data"]._data, large.arg_dict["data"]._data)
    assert (
        module._buckets[2]._exec_group.param_arrays is module._buckets[4]._exec_group.param_arrays
    )


def test_preparing_a_bucket_binds_it_and_leaves_the_current_one() -> None:
    module = bound()
    module.forward(batch(4))
    module.prepare(batch(3))
    assert sorted(module._buckets) == [3, 4]
    assert module.data_shapes[0].shape == (6, 4, 2)
    assert module.get_outputs()[0].shape == (6, 3)


def test_a_new_bucket_is_trained_by_the_optimizer_that_there_is() -> None:
    module = bound()
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    before = module.get_params()[0]["input_weight"].asnumpy()
    module.forward_backward(batch(2))
    module.update()
    assert abs(module.get_params()[0]["input_weight"].asnumpy() - before).max() > 1e-4


def test_a_batch_without_a_key_is_of_the_default_bucket() -> None:
    """MXNet asks for the network of None."""
    module = bound()
    wanted = batch(4)
    module.forward(wanted, is_train=False)
    outputs = module.get_outputs()[0].asnumpy()
    module.forward(batch(2), is_train=False)
    module.forward(DataBatch(wanted.data, wanted.label), is_train=False)
    np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), outputs)


def test_a_monitor_watches_buckets_to_come() -> None:
    module = bound()
    monitor = mx.mon.Monitor(1, pattern="out_output")
    module.install_monitor(monitor)
    for length in (4, 3):
        monitor.tic()
        module.forward(batch(length))
        assert [name for _, name, _ in monitor.toc()].count("out_output") == 1


def test_a_bucket_needs_weights_first() -> None:
    module = BucketingModule(generated, 4)
    module.bind(DATA, LABEL)
    with pytest.raises(ModuleStateError, match="expected a shared_module with weights"):
        module.switch_bucket(2, [("data", (6, 2, 2))], LABEL)


def test_fit_score_and_predict_go_over_buckets() -> None:
    class Buckets(DataIter):
        provide_data, provide_label = DATA, LABEL

        def __init__(self) -> None:
            super().__init__(6)
            self.reset()

        def reset(self) -> None:
            self.left = [batch(length, length) for length in (2, 4, 3, 4)]

        def next(self) -> DataBatch:
            if not self.left:
                raise StopIteration
            return self.left.pop()

    module = BucketingModule(generated, 4)
    module.fit(Buckets(), num_epoch=2, initializer=mx.init.Xavier(), eval_metric="ce")
    assert sorted(module._buckets) == [2, 3, 4]
    assert module.predict(Buckets()).shape == (24, 3)
    assert 0 < dict(module.score(Buckets(), "ce"))["cross-entropy"] < 3


def test_keys_that_the_file_cannot_hold_are_refused(tmp_path: Path) -> None:
    module = BucketingModule(lambda key: generated(key[0]), (4, 1))
    module.bind(DATA, LABEL)
    module.init_params()
    with pytest.raises(ArgumentError, match=r"expected int keys, got \(4, 1\)"):
        module.save_checkpoint(str(tmp_path / "net"), 1)


def test_loading_needs_sym_gen(tmp_path: Path) -> None:
    bound().save_checkpoint(str(tmp_path / "net"), 1)
    with pytest.raises(ArgumentError, match="expected sym_gen, got None"):
        BucketingModule.load(str(tmp_path / "net"), 1, default_bucket_key=4)


def test_weights_of_a_checkpoint_are_there_before_it_is_bound(tmp_path: Path) -> None:
    module = bound()
    module.save_checkpoint(str(tmp_path / "net"), 1)
    loaded = BucketingModule.load(str(tmp_path / "net"), 1, generated, 4)
    for found, expected in zip(loaded.get_params(), module.get_params(), strict=True):
        assert found.keys() == expected.keys()
        for name, x in expected.items():
            np.testing.assert_array_equal(found[name].asnumpy(), x.asnumpy())


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    mx.nd.save(str(tmp_path / "net.buckets"), {"a": mx.nd.ones(1)})
    with pytest.raises(FileFormatError, match="expected keys of buckets"):
        BucketingModule.load(str(tmp_path / "net"), 1, generated, 4)


def test_networks_of_a_dict_are_used_in_place_of_generated_ones() -> None:
    other = mx.sym.SoftmaxOutput(
        mx.sym.FullyConnected(mx.sym.Flatten(mx.sym.var("data")), num_hidden=3, name="fc"),
        name="softmax",
    )
    module = BucketingModule.load_dict({4: other}, generated, 4)
    module.params_initialized = module._made.params_initialized = False
    module.bind(DATA, LABEL)
    module.init_params()
    assert list(module.get_params()[0]) == ["fc_weight", "fc_bias"]
