import inspect
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError, NotSupportedError
from gluonish.io import NDArrayIter
from gluonish.module import BaseModule, Module
from gluonish.module.base_module import _check_input_names, _parse_data_desc  # type: ignore[attr-defined]
from gluonish.module.descriptions import ModuleStateError
from tests.module.networks import INPUTS, ROWS, bound, mlp, weights


def data(count: int = 20) -> NDArrayIter:
    rows = np.random.default_rng(0).normal(size=(count, INPUTS))
    return NDArrayIter(rows, np.arange(count) % 3, batch_size=ROWS)


DEFINED: Any = {
    "get_params": (),
    "init_params": (),
    "set_params": ({}, {}),
    "install_monitor": (None,),
    "forward": (None,),
    "backward": (),
    "forward_backward": (None,),
    "get_outputs": (),
    "get_input_grads": (),
    "update": (),
    "update_metric": (None, None),
    "bind": (None,),
    "init_optimizer": (),
}


@pytest.mark.parametrize("name", DEFINED)
def test_what_a_subclass_must_define_is_named(name: str) -> None:
    with pytest.raises(NotSupportedError, match="BaseModule: expected a subclass that defines"):
        getattr(BaseModule(), name)(*DEFINED[name])


@pytest.mark.parametrize(
    "name", ["data_names", "output_names", "data_shapes", "label_shapes", "output_shapes"]
)
def test_so_is_what_it_must_tell(name: str) -> None:
    with pytest.raises(NotSupportedError, match=f"defines {name}"):
        getattr(BaseModule(), name)


def test_a_module_has_no_states_unless_it_says_so() -> None:
    module = BaseModule()
    with pytest.raises(ModuleStateError, match="call bind first"):
        module.get_states()
    module.binded = module.params_initialized = True
    assert module.get_states() == []
    with pytest.raises(ArgumentError, match="expected nothing for a module without states"):
        module.set_states(value=1)


def test_the_number_of_epochs_is_needed() -> None:
    with pytest.raises(ArgumentError, match="expected num_epoch, the number of epochs, got None"):
        Module(mlp()).fit(data())


def test_callbacks_see_the_local_variables_of_the_loop() -> None:
    seen: dict[str, Any] = {}
    module = Module(mlp())
    module.fit(data(), num_epoch=1, batch_end_callback=lambda param: seen.update(param.locals))
    expected = set(inspect.signature(BaseModule.fit).parameters)
    assert expected | {"epoch", "nbatch", "data_batch", "data_iter", "tic"} <= set(seen)
    assert seen["self"] is module
    assert seen["nbatch"] == 2


def test_training_goes_on_where_it_was() -> None:
    module, whole = Module(mlp()), Module(mlp())
    settings = {"arg_params": weights(), "optimizer_params": {"learning_rate": 0.1}}
    whole.fit(data(), num_epoch=2, **settings)
    module.fit(data(), num_epoch=1, **settings)
    module.fit(data(), begin_epoch=1, num_epoch=2)
    found, wanted = (one.get_params()[0]["fc1_weight"].asnumpy() for one in (module, whole))
    np.testing.assert_array_equal(found, wanted)


def test_weights_that_come_too_late_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="the weights are unchanged"):
        bound().fit(data(), num_epoch=1, arg_params=weights())


def test_callbacks_that_reset_the_metric_do_not_hide_the_epoch(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def reset(param: Any) -> None:
        param.eval_metric.reset()

    module = Module(mlp())
    with caplog.at_level("INFO"):
        module.fit(data(), num_epoch=1, batch_end_callback=reset)
    assert "nan" not in caplog.text


@pytest.mark.parametrize("given", [3, "a", [1]])
def test_only_data_are_predicted(given: Any) -> None:
    with pytest.raises(ValueError, match="expected a DataIter, an NDArray or a NumPy array"):
        bound().predict(given)


def test_no_data_give_no_predictions() -> None:
    module, batches = bound(), data()
    list(batches)
    assert module.predict(batches, reset=False) == []


def test_predictions_stay_when_the_module_goes_on() -> None:
    module = bound()
    found = module.predict(data(), merge_batches=False)
    kept = [outputs[0].asnumpy() for outputs in found]
    module.predict(mx.nd.ones((ROWS, INPUTS)))
    for outputs, before in zip(found, kept, strict=True):
        np.testing.assert_array_equal(outputs[0].asnumpy(), before)


def test_helpers_that_programs_import_check_names_as_bind_does() -> None:
    """Values are those of MXNet 1.9.1."""
    data, label = _parse_data_desc(["a", "b"], ["l"], [("b", (2, 3)), ("a", (4,))], [("l", (2,))])
    assert [tuple(x) for x in data] == [("b", (2, 3)), ("a", (4,))]
    assert label is not None
    assert [tuple(x) for x in label] == [("l", (2,))]
    assert _parse_data_desc(["a"], ["l"], [("a", (4,))], None)[1] is None
    with pytest.raises(ValueError, match="expected data_shapes for"):
        _parse_data_desc(["a", "b"], [], [("a", (4,))], [])
    with pytest.warns(UserWarning, match="expected label_shapes for"):
        _parse_data_desc(["a"], ["l"], [("a", (4,))], [("z", (1,))])
    layer = mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=2, name="f")
    _check_input_names(layer, ["a"], "data", True)
    with pytest.raises(ValueError, match="expected data_names"):
        _check_input_names(layer, ["z"], "data", True)
    with pytest.warns(UserWarning, match="expected label_names"):
        _check_input_names(layer, ["z"], "label", False)
