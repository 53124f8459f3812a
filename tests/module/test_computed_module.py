from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish.core.errors import ArgumentError
from gluonish.io import DataBatch
from gluonish.module import Module
from gluonish.module.descriptions import ModuleStateError
from tests.module.networks import (
    DATA,
    INPUTS,
    ROWS,
    TWO,
    batch,
    bound,
    values,
)


def test_a_module_that_is_not_for_training_has_no_gradients() -> None:
    module = bound(for_training=False)
    module.forward(batch())
    with pytest.raises(ModuleStateError, match="bind it with for_training=True"):
        module.backward()


def test_gradients_of_inputs_are_there_only_where_asked_for() -> None:
    module = bound()
    module.forward_backward(batch())
    with pytest.raises(ModuleStateError, match="bind it with inputs_need_grad=True"):
        module.get_input_grads()


@pytest.mark.parametrize("context", [mx.cpu(0), TWO], ids=["one", "two"])
def test_heads_of_outputs_are_cut_over_the_devices(context: Any) -> None:
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, no_bias=True, name="fc")
    module = Module(symbol, label_names=None, context=context)
    module.bind([("data", (4, 2))], inputs_need_grad=True)
    weight, data, head = values((3, 2), 1), values((4, 2), 2), values((4, 3), 3)
    module.init_params(None, {"fc_weight": weight})
    for given in (head, [head]):
        module.forward(DataBatch([data], None))
        module.backward(given)
        wanted = head.asnumpy() @ weight.asnumpy()
        np.testing.assert_allclose(module.get_input_grads()[0].asnumpy(), wanted, atol=1e-6)
        slopes = sum(g.asnumpy() for g in module._exec_group.grad_arrays[0])
        np.testing.assert_allclose(slopes, head.asnumpy().T @ data.asnumpy(), atol=1e-5)


def test_an_output_that_is_no_loss_needs_a_head() -> None:
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    module = Module(symbol, label_names=None)
    module.bind(DATA)
    module.init_params()
    module.forward(DataBatch([values((ROWS, INPUTS), 1)], None))
    with pytest.raises(ArgumentError, match="expected out_grads for output fc_output"):
        module.backward()


def test_states_are_given_or_a_number() -> None:
    module = bound()
    for arguments in ({}, {"states": [], "value": 1}):
        with pytest.raises(ArgumentError, match="expected either states or value"):
            module.set_states(**arguments)
    with pytest.raises(ArgumentError, match="expected merge_multi_context=False"):
        module.get_states()
