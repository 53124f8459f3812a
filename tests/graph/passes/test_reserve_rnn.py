from types import SimpleNamespace
from typing import Any

import pytest

from gluonish.graph.ir import Value, lint
from gluonish.graph.passes import reserve_rnn
from gluonish.ops.recurrent import reserved_rnn
from tests.graph.builders import call, graph, inputs

SHAPES = ((2, 3), (2, 2), (2,), (2,))
ATTRS: dict[str, Any] = {"mode": "rnn_tanh", "state_size": 2, "num_layers": 1}


def _device(host: bool) -> Any:
    return SimpleNamespace(is_host=host)


def _net() -> tuple[list[Value], Value]:
    data, state, *parts = inputs((4, 1, 3), (1, 1, 2), *SHAPES)
    flat = [call("Reshape", part, shape=-1) if len(part.spec.shape) > 1 else part for part in parts]
    joined = call("_rnn_param_concat", *flat, dim=0)
    y = call("RNN", data, call("Cast", joined, dtype="float32"), state, train=True, **ATTRS)
    return [data, state, *parts], y


@pytest.mark.parametrize(("gradient", "reserve"), [(True, 48), (False, 0)])
def test_supported_layers_get_a_private_reserve(
    monkeypatch: pytest.MonkeyPatch, gradient: bool, reserve: int
) -> None:
    asked = []

    def rule(device: Any, specs: Any, attrs: Any) -> int:
        asked.append((device, [spec.shape for spec in specs], attrs["mode"]))
        return 48

    monkeypatch.setattr(reserved_rnn, "_rules", [rule])
    variables, y = _net()
    device = _device(False)
    found = str(lint(reserve_rnn(graph(variables, y), device=device, gradient=gradient)))
    assert asked == [(device, [(4, 1, 3), (14,), (1, 1, 2)], "rnn_tanh")]
    assert "_reserved_rnn(" in found
    assert f"float32({reserve},) = _reserved_rnn(" in found
    assert "Reshape" not in found
    assert "= _rnn_param_pack(%1, %2, %3, %4, num_args=4)" in found


@pytest.mark.parametrize("host", [False, True])
def test_other_layers_stay(monkeypatch: pytest.MonkeyPatch, host: bool) -> None:
    monkeypatch.setattr(reserved_rnn, "_rules", [lambda *_: 48 if host else None])
    variables, y = _net()
    found = str(lint(reserve_rnn(graph(variables, y), device=_device(host), gradient=True)))
    assert "_reserved_rnn" not in found
    assert " RNN(" in found
