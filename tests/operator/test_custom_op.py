from collections.abc import Callable
from typing import Any

import pytest

import gluonish as mx
from gluonish import autograd, nd, sym


class _Filled(mx.operator.CustomOp):
    calls = 0

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        type(self).calls += 1
        for i, out in enumerate(out_data):
            self.assign(out, req[i], nd.full(out.shape, 3 + i, ctx=out.context))


def _registered(name: str, outputs: int) -> None:
    @mx.operator.register(name)
    class Filled(mx.operator.CustomOpProp):
        def list_arguments(self) -> list[str]:
            return []

        def list_outputs(self) -> list[str]:
            return [f"output{i}" for i in range(outputs)]

        def infer_shape(self, in_shape: Any) -> Any:
            return [], [(2, 3)] * outputs, []

        def infer_type(self, in_type: Any) -> Any:
            return [], ["float32"] * outputs, []

        def create_operator(self, ctx: Any, shapes: Any, dtypes: Any) -> _Filled:
            return _Filled()


_registered("filled_once", 1)
_registered("filled_twice", 2)


def test_operator_without_inputs_makes_an_array() -> None:
    made = nd.Custom(op_type="filled_once")
    assert isinstance(made, nd.NDArray)
    assert made.tolist() == [[3] * 3] * 2
    assert [y.sum().asscalar() for y in nd.Custom(op_type="filled_twice")] == [18, 24]


def test_operator_without_inputs_runs_on_the_current_device() -> None:
    with mx.cpu(1):
        assert nd.Custom(op_type="filled_once").context == mx.cpu(1)
    out = nd.zeros((2, 3), ctx=mx.cpu(1))
    nd.Custom(op_type="filled_once", out=out)
    assert out.sum().asscalar() == 18


def test_array_of_an_operator_without_inputs_is_a_constant_of_the_record() -> None:
    x = nd.ones((2, 3))
    x.attach_grad()
    with autograd.record():
        y = x * nd.Custom(op_type="filled_once")
    y.backward()
    assert x.grad.tolist() == [[3] * 3] * 2


def test_symbol_of_an_operator_without_inputs() -> None:
    made = sym.Custom(op_type="filled_once")
    assert isinstance(made, sym.Symbol)
    assert (made + sym.var("x")).eval(x=nd.ones((2, 3)))[0].sum().asscalar() == 24


def _by_functions(F: Any, x: Any) -> Any:
    return F.Custom(op_type="filled_once") + x


class _Symbolic(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return _by_functions(F, x)


class _Traced(mx.gluon.HybridBlock):
    def forward(self, x: Any) -> Any:
        return _by_functions(nd, x)


@pytest.mark.parametrize("block", [_Symbolic, _Traced])
def test_each_call_of_a_hybridized_block_runs_the_operator(
    block: Callable[[], mx.gluon.HybridBlock],
) -> None:
    net = block()
    assert net(nd.ones((2, 3))).sum().asscalar() == 24
    net.hybridize()
    net(nd.ones((2, 3))).wait_to_read()
    before = _Filled.calls
    for _ in range(2):
        assert net(nd.ones((2, 3))).sum().asscalar() == 24
    assert _Filled.calls == before + 2
