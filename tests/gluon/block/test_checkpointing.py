"""Block.checkpoint: the same bits, less memory, moving statistics once, and what is refused."""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gluonish as mx
from gluonish import autograd, gluon, nd
from gluonish.core.config import MXNET_ENFORCE_DETERMINISM
from gluonish.core.errors import AutogradError, GluonishError
from gluonish.gluon import nn
from gluonish.graph import arenas, idle_memory
from gluonish.ndarray import slabs

UNITS = 32
HYBRID: list[Any] = [None, {}, {"static_alloc": True}, {"static_alloc": True, "static_shape": True}]


@pytest.fixture(autouse=True)
def same_kernels() -> Iterator[None]:
    """Choose the same kernels in the first call and in later ones."""
    with MXNET_ENFORCE_DETERMINISM.override(True):
        yield


class Layer(gluon.HybridBlock):
    """A layer with a residual, dropout and moving statistics."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.wide = nn.Dense(2 * UNITS, flatten=False)
            self.moving = nn.BatchNorm(axis=-1)
            self.narrow = nn.Dense(UNITS, flatten=False)
            self.dropout = nn.Dropout(0.3)
            self.norm = nn.LayerNorm()

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        hidden = F.LeakyReLU(self.moving(self.wide(x)), act_type="gelu")
        return self.norm(x + self.dropout(self.narrow(hidden)))


class NewLayer(Layer):
    """The same in the style of MXNet 2.0."""

    def forward(self, x: Any) -> Any:
        hidden = nd.LeakyReLU(self.moving(self.wide(x)), act_type="gelu")
        return self.norm(x + self.dropout(self.narrow(hidden)))


def network(kind: type = Layer) -> Any:
    mx.random.seed(3)
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(UNITS, flatten=False))
        for _ in range(3):
            net.add(kind())
        net.add(nn.Dense(5))
    net.initialize(mx.init.Xavier())
    net(nd.ones((4, 6, 8)))
    return net


def trained(
    net: Any, steps: int = 3, grad_req: str = "write", ctx: Any = None
) -> list[np.ndarray[Any, Any]]:
    """Return the parameters after some steps, the gradients, and an output."""
    data = np.random.default_rng(0).standard_normal((4, 6, 8))
    x = nd.array(data, ctx=ctx)
    net.collect_params().setattr("grad_req", grad_req)
    x.attach_grad()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
    for _ in range(steps):
        with autograd.record():
            loss = (net(x) ** 2).mean()
        loss.backward()
        trainer.step(1)
    params = net.collect_params().values()
    found = [p.data(ctx).asnumpy() for p in params] + [x.grad.asnumpy(), net(x).asnumpy()]
    return found + [p.grad(ctx).asnumpy() for p in params if p.grad_req != "null"]


def hold(net: Callable[[], Any], mark: Callable[[Any], None], hybrid: Any, **kwargs: Any) -> None:
    """Check that training with checkpoints gives the bits of training without."""
    found = []
    for checkpointed in (False, True):
        made = net()
        if hybrid is not None:
            made.hybridize(**hybrid)
        if checkpointed:
            mark(made)
        found.append(trained(made, **kwargs))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def layers(net: Any) -> None:
    for layer in net[1:4]:
        layer.checkpoint()


def nested(net: Any) -> None:
    for layer in net[1:4]:
        layer.checkpoint()
        layer.wide.checkpoint()
        layer.dropout.checkpoint()
    net.checkpoint()


@pytest.mark.parametrize("hybrid", HYBRID)
@pytest.mark.parametrize("mark", [layers, nested, lambda net: net.checkpoint()])
@pytest.mark.parametrize("kind", [Layer, NewLayer])
def test_training_gives_the_same_bits(hybrid: Any, mark: Any, kind: type) -> None:
    hold(lambda: network(kind), mark, hybrid)


@pytest.mark.parametrize("hybrid", [None, {"static_alloc": True}])
def test_gradients_are_added(hybrid: Any) -> None:
    hold(network, layers, hybrid, grad_req="add")


@pytest.mark.parametrize("hybrid", [None, {}])
def test_hybridized_after_the_checkpoint(hybrid: Any) -> None:
    def mark(net: Any) -> None:
        layers(net)
        if hybrid is not None:
            net.hybridize(**hybrid)

    hold(network, mark, hybrid)


def test_a_block_that_is_not_hybrid() -> None:
    class Plain(gluon.Block):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.dropout, self.second = nn.Dense(8), nn.Dropout(0.5), nn.Dense(8)

        def forward(self, x: Any, scale: float = 1.0, **more: Any) -> Any:
            y = self.second(self.dropout(nd.relu(self.first(x)))) * scale
            return {"y": y, "both": [x, more["z"] * 2]}

    grads = []
    for checkpointed in (False, True):
        mx.random.seed(1)
        block = Plain()
        block.initialize()
        x, z = nd.array(np.arange(12).reshape(3, 4)), nd.ones((3, 4))
        x.attach_grad()
        z.attach_grad()
        block.checkpoint(checkpointed)
        with autograd.record():
            out = block(x, scale=3.0, z=z)
            loss = out["y"].sum() + (out["both"][0] * out["both"][1]).sum()
        loss.backward()
        grads.append([x.grad, z.grad, *(p.grad() for p in block.collect_params().values())])
    for a, b in zip(*grads, strict=True):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize("hybrid", [None, {"static_alloc": True}])
def test_a_weight_used_inside_and_outside_gets_both_gradients(hybrid: Any) -> None:
    def net() -> Any:
        mx.random.seed(0)
        made = nn.HybridSequential()
        made.add(nn.Dense(8, in_units=8, flatten=False), nn.Dense(8, in_units=8, flatten=False))
        made.add(nn.Dense(8, in_units=8, flatten=False, params=made[0].params))
        made.initialize(mx.init.Xavier())
        return made

    def mark(made: Any) -> None:
        made[0].checkpoint()
        made[1].checkpoint()

    hold(net, mark, hybrid)


def test_moving_statistics_are_updated_once() -> None:
    means = []
    for checkpointed in (False, True):
        layer = nn.BatchNorm(in_channels=3)
        layer.initialize()
        layer.checkpoint(checkpointed)
        x = nd.array(np.random.default_rng(0).standard_normal((5, 3)))
        x.attach_grad()
        with autograd.record():
            y = layer(x)
        y.backward()
        means.append(layer.running_mean.data().asnumpy())
        assert means[-1].any()
    np.testing.assert_array_equal(*means)


def _live_nbytes() -> int:
    """Return the bytes of the arrays that are alive."""
    mx.nd.waitall()
    gc.collect()
    arrays = {id(x._data): x for x in gc.get_objects() if isinstance(x, nd.NDArray)}
    return sum(x._data.nbytes for x in arrays.values() if x.stype == "default")


def _saved_nbytes(net: Any) -> int:
    """Return the bytes that a recorded call keeps alive for its backward pass."""
    x = nd.ones((64, 6, 8))
    with autograd.record():
        net(x)  # makes the graphs
    before = _live_nbytes()
    with autograd.record():
        y = net(x)
    found = _live_nbytes() - before
    y.backward()
    return found


def test_activations_of_layers_are_not_kept() -> None:
    net = network()
    kept = _saved_nbytes(net)
    layers(net)
    # What remains are the inputs of the layers.
    assert _saved_nbytes(net) < 0.4 * kept


@pytest.mark.parametrize("static_alloc", [False, True])
def test_graphs_of_layers_keep_no_state(static_alloc: bool) -> None:
    net = network()
    net.hybridize(static_alloc=static_alloc)
    layers(net)
    x = nd.ones((64, 6, 8))
    with autograd.record():
        y = net(x)
    y.backward()
    for layer in net[1:4]:
        (graph,) = layer._graphs.values()
        assert not graph._cached.static_alloc
    layers_off = [layer.checkpoint(False) for layer in net[1:4]]
    assert layers_off == [None] * 3
    with autograd.record():
        net(x)
    assert not any(layer._graphs for layer in net[1:4])  # one graph again
    (graph,) = net._graphs.values()
    assert graph._cached.static_alloc == static_alloc


def test_inference_is_one_graph(tmp_path: Any) -> None:
    net = network()
    net.hybridize()
    want = net(nd.ones((4, 6, 8))).asnumpy()
    layers(net)
    np.testing.assert_array_equal(net(nd.ones((4, 6, 8))).asnumpy(), want)
    assert len(net._graphs) == 1
    net.export(str(tmp_path / "net"))
    again = gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    np.testing.assert_allclose(again(nd.ones((4, 6, 8))).asnumpy(), want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_mixed_precision_is_that_of_the_call(dtype: str) -> None:
    def steps(checkpointed: bool) -> list[Any]:
        net = network()
        if checkpointed:
            layers(net)
        x = nd.ones((4, 6, 8))
        with autograd.record(), mx.contrib.amp.amp.autocast(dtype):
            loss = net(x).sum()
        loss.backward()
        return [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]

    if not hasattr(mx.contrib.amp.amp, "autocast"):
        pytest.skip("no scope of mixed precision")
    for a, b in zip(steps(False), steps(True), strict=True):
        np.testing.assert_array_equal(a, b)


def test_two_devices() -> None:
    net = network()
    net.collect_params().reset_ctx([mx.cpu(0), mx.cpu(1)])
    layers(net)
    found = []
    for i in (0, 1):
        with autograd.record():
            loss = net(nd.ones((4, 6, 8), ctx=mx.cpu(i))).sum()
        loss.backward()
        found.append([p.grad(mx.cpu(i)) for p in net.collect_params("net_dense").values()])
    for a, b in zip(*found, strict=True):
        assert (a.context, b.context) == (mx.cpu(0), mx.cpu(1))


def test_retained_graph_runs_again() -> None:
    net = network()
    layers(net)
    with autograd.record():
        loss = net(nd.ones((4, 6, 8))).sum()
    loss.backward(retain_graph=True)
    first = net[1].wide.weight.grad().asnumpy()
    loss.backward()
    np.testing.assert_array_equal(net[1].wide.weight.grad().asnumpy(), first)
    with pytest.raises(AutogradError, match="freed"):
        loss.backward()


def test_refusals() -> None:
    net = network()
    layers(net)
    x = nd.ones((4, 6, 8))
    x.attach_grad()
    with (
        autograd.record(),
        pytest.raises(AutogradError, match=r"without create_graph .*checkpoint\(False\)"),
    ):
        autograd.grad(net(x).sum(), [x], create_graph=True)

    class Reads(gluon.Block):
        other: Any = None

        def forward(self, x: Any) -> Any:
            return x * self.other

    block = Reads()
    block.checkpoint()
    with autograd.record():
        block.other = x * 2
        with pytest.raises(AutogradError, match="reads another recorded array"):
            block(x)

    class Draws(gluon.Block):
        count = 0

        def forward(self, x: Any) -> Any:
            self.count += 1
            for _ in range(self.count):
                x = nd.Dropout(x, p=0.5)
            return x

    drawing = Draws()
    drawing.checkpoint()
    with autograd.record():
        y = drawing(x)
    with pytest.raises(GluonishError, match="must draw the same numbers in each run"):
        y.backward()


def test_hooks_of_the_block_run_once() -> None:
    layer, calls = nn.Dense(3), []
    layer.initialize()
    layer.register_forward_hook(lambda *args: calls.append(1))
    layer.checkpoint()
    with autograd.record():
        y = layer(nd.ones((2, 2)))
    y.backward()
    assert calls == [1]


@pytest.mark.parametrize("hybrid", [None, {}, {"static_alloc": True}])
def test_the_peak_of_a_step_is_lower(hybrid: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers must not run all layers again at once."""
    monkeypatch.setattr(idle_memory, "MAX_NBYTES", 0)  # small states are kept up to it
    for module in (arenas, slabs):  # memory that is mapped is not traced
        monkeypatch.setattr(module, "LARGE_NBYTES", 1 << 60)
    peaks = []
    for checkpointed in (False, True):
        net = nn.HybridSequential()
        net.add(*(Layer() for _ in range(8)))
        net.initialize()
        if hybrid is not None:
            net.hybridize(**hybrid)
        for layer in net if checkpointed else ():
            layer.checkpoint()
        x = nd.ones((256, 6, UNITS))

        def step(net: Any = net, x: Any = x) -> None:
            with autograd.record():
                y = net(x)
            y.backward()
            mx.nd.waitall()

        tracemalloc.start()
        try:
            step()
            tracemalloc.reset_peak()
            step()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 0.5 * peaks[0]
