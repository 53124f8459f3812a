from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import gluonish as mx
from tests.onnx.exporting.judge import evaluated


class _Repeated(mx.gluon.HybridBlock):
    """States that each slice changes, and a weight that stays."""

    def hybrid_forward(self, F: Any, x: Any, state: Any, rest: Any) -> Any:
        return F.contrib.foreach(lambda d, s: (d + s * rest, d * s), x, state)


class _Whiled(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, number: Any, state: Any) -> Any:
        outputs, states = F.contrib.while_loop(
            lambda n, s: F.sum(s) < 20,
            lambda n, s: ([s * 2, n], [n + 1, s + n]),
            loop_vars=[number, state],
            max_iterations=6,
        )
        return [*outputs, *states]


class _Chosen(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, y: Any) -> Any:
        return F.contrib.cond(F.sum(x) > 1, lambda: x * 2 + y, lambda: x - y)


class _Nested(mx.gluon.HybridBlock):
    def hybrid_forward(self, F: Any, x: Any, state: Any) -> Any:
        def step(row: Any, s: Any) -> Any:
            start = F.slice_axis(s, axis=0, begin=0, end=1) * 0
            inner, _ = F.contrib.foreach(lambda d, t: (d * s.sum() + t, t + d), row, start)
            return inner.sum(), s + 1

        return F.contrib.foreach(step, x, state)


CASES: dict[str, tuple[Any, list[Any], str]] = {
    "foreach": (_Repeated, [np.arange(12).reshape(4, 3) / 10, np.ones(3), np.full(3, 2)], "Scan"),
    "while": (_Whiled, [[1], np.ones(3)], "Loop"),
    "while-to-the-end": (_Whiled, [[0], np.full(3, -5)], "Loop"),
    "then": (_Chosen, [[1, 2], [1, 1]], "If"),
    "else": (_Chosen, [[-1, 0.2], [1, 1]], "If"),
    "nested": (_Nested, [np.arange(6).reshape(2, 3) / 5, np.ones(2)], "Scan"),
}


@pytest.mark.parametrize("name", CASES)
def test_control_flow_gives_the_same(name: str, tmp_path: Path) -> None:
    make, values, kind = CASES[name]
    arrays = [np.asarray(x, np.float32) for x in values]
    block = make()
    made = block(*[mx.nd.array(x) for x in arrays])
    wanted: list[Any] = []
    for y in made if isinstance(made, list | tuple) else [made]:
        wanted += y if isinstance(y, list | tuple) else [y]
    path = str(tmp_path / "x.onnx")
    mx.onnx.export_model(block, None, [x.shape for x in arrays], np.float32, path)
    assert kind in [node.op_type for node in onnx.load(path).graph.node]
    got = evaluated(path, arrays)
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a.reshape(b.shape), b.asnumpy(), rtol=1e-6)


def test_what_a_body_holds_is_refused_with_the_rest(tmp_path: Path) -> None:
    x = mx.sym.var("x")
    body = lambda d, s: (mx.sym.shuffle(d, name="mix"), s)  # noqa: E731
    outputs, _ = mx.sym.contrib.foreach(body, x, mx.sym.var("s"))
    with pytest.raises(NotImplementedError, match="_shuffle in node mix: ONNX draws no random"):
        mx.onnx.export_model(outputs, {}, [(4, 3), (3,)], np.float32, str(tmp_path / "x.onnx"))


def test_the_graph_of_a_recorded_call_is_written_operator_by_operator(tmp_path: Path) -> None:
    net = mx.gluon.nn.HybridSequential()
    net.add(*(mx.gluon.nn.Dense(3, in_units=3, activation="tanh") for _ in range(2)))
    net.initialize(mx.init.Uniform(1))
    net.hybridize()
    x = mx.nd.array([[1, 2, 3]])
    with mx.autograd.record():
        y = net(x) * 2
    symbol = mx.autograd.get_symbol(y)
    weights = [parameter.data() for parameter in net.collect_params().values()]
    params = {f"var{i}": weight for i, weight in enumerate(weights)}
    path = mx.onnx.export_model(symbol, params, [(1, 3)], "float32", str(tmp_path / "a.onnx"))
    assert "Gemm" in {node.op_type for node in onnx.load(path).graph.node}
    np.testing.assert_allclose(evaluated(path, [x.asnumpy()])[0], y.asnumpy(), rtol=1e-6)
