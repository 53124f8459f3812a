"""Every layer inside a block in the style of 2.0, on arrays of nd and np, hybridized or not."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd
from gluonish.gluon.block.hybrid_block import HybridBlock
from tests.gluon.nn.rows import CONTRIB, LAYERS, Row
from tests.gluon.nn.test_hybrid_equals_imperative import HEADS, fill

ROWS = {
    f"{name}-{i}": row
    for name, rows in {**LAYERS, **CONTRIB}.items()
    for i, row in enumerate(rows)
    if name != "Dropout" or i == 2  # the others draw numbers
}


class Wrapped(HybridBlock):
    """Calls a layer from plain Python code."""

    def __init__(self, layer: HybridBlock) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any, *args: Any) -> Any:
        y = self.layer(x, *args)
        return y * 2 + y.mean() if len(y.shape) > 1 else y


@pytest.fixture(params=["nd", "np"])
def face(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "nd":
        yield mx.nd
        return
    mx.npx.set_np()
    yield mx.np
    mx.npx.reset_np()


def results(block: Any, row: Row, values: list[Any], face: Any) -> dict[str, Any]:
    mx.random.seed(11)  # for layers that drop
    inputs = [face.array(value.astype(np.float32)) for value in values]
    for x in inputs[: row.differentiable]:
        x.attach_grad()
    with autograd.record():
        output = block(*inputs)
    assert type(output) is (mx.np.ndarray if face is mx.np else mx.nd.NDArray)
    head = face.array(HEADS[: output.size].reshape(output.shape))
    parameters = block._collect_params_with_prefix()
    if row.differentiable or any(p.grad_req != "null" for p in parameters.values()):
        autograd.backward([output], [head])
    found = {"output": output.asnumpy()}
    for i, x in enumerate(inputs[: row.differentiable]):
        found[f"input {i}"] = x.grad.asnumpy()
    for path, p in parameters.items():
        assert type(p.data()) is type(output), path
        found[path] = (p.data() if p.grad_req == "null" else p.grad()).asnumpy()
    return found


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("name", ROWS)
def test_hybridized_equals_imperative(name: str, known: bool, face: Any) -> None:
    row = ROWS[name]
    values = row.inputs(np.random.default_rng(5), 4)
    found = []
    for hybridize in (False, True):
        block = Wrapped(row.make(known))
        for parameter in block.collect_params().values():
            parameter.initialize(init=fill)
        block.hybridize(hybridize)
        found.append([results(block, row, values, face) for _ in range(2)])
    for plain, hybrid in zip(*found, strict=True):
        assert plain.keys() == hybrid.keys()
        assert all(path.startswith(("layer.", "input", "output")) for path in plain)
        for key, value in plain.items():
            np.testing.assert_allclose(hybrid[key], value, 1e-4, 1e-5, err_msg=key)


@pytest.mark.parametrize("name", ROWS)
def test_arrays_of_np_give_what_those_of_nd_do(name: str) -> None:
    row = ROWS[name]
    values = row.inputs(np.random.default_rng(6), 4)
    found = []
    for face in (mx.nd, mx.np):
        if face is mx.np:
            mx.npx.set_np()
        try:
            block = row.make(True)
            for parameter in block.collect_params().values():
                parameter.initialize(init=fill)
            found.append(results(block, row, values, face))
        finally:
            mx.npx.reset_np()
    for key, value in found[0].items():
        np.testing.assert_allclose(found[1][key], value, 1e-5, 1e-6, err_msg=key)
