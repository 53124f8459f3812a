"""Write adapters for peft to read, and a small Llama whose attribute paths are transformers'.

    python -m tests.contrib.lora_for_peft FOLDER

Each adapter's folder in it also has ``output.npy``, which `tests/golden/make_lora.py FOLDER`, run
with an interpreter that has peft, compares with what peft computes.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from gluonish import gluon, initializer, nd
from gluonish.contrib import lora
from gluonish.gluon import nn

GOLDEN = Path(__file__).parents[1] / "golden" / "lora"


class _Attention(gluon.HybridBlock):
    def __init__(self, units: int, heads: int, groups: int) -> None:
        super().__init__()
        self._heads, self._groups = heads, groups
        width = units // heads
        for name, count in (("q", heads), ("k", groups), ("v", groups)):
            layer = nn.Dense(count * width, flatten=False, use_bias=False, in_units=units)
            setattr(self, f"{name}_proj", layer)
        self.o_proj = nn.Dense(units, flatten=False, use_bias=False, in_units=units)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        layers: tuple[Any, ...] = (self.q_proj, self.k_proj, self.v_proj)  # type: ignore[attr-defined]
        counts = (self._heads, self._groups, self._groups)
        q, k, v = (
            F.reshape(layer(x), shape=(0, 0, count, -1))
            for layer, count in zip(layers, counts, strict=True)
        )
        q, k = (F.rotary_embedding(y, layout="NTHC") for y in (q, k))
        made = F.scaled_dot_product_attention(q, k, v, causal=True, layout="NTHC")
        return self.o_proj(F.reshape(made, shape=(0, 0, -1)))


class _Feed(gluon.HybridBlock):
    def __init__(self, units: int, hidden: int) -> None:
        super().__init__()
        options: dict[str, Any] = {"flatten": False, "use_bias": False}
        self.gate_proj = nn.Dense(hidden, in_units=units, **options)
        self.up_proj = nn.Dense(hidden, in_units=units, **options)
        self.down_proj = nn.Dense(units, in_units=hidden, **options)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        return self.down_proj(F.swiglu(self.gate_proj(x), self.up_proj(x)))


class _Layer(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.self_attn = _Attention(16, 4, 2)
        self.mlp = _Feed(16, 24)
        self.input_layernorm = nn.RMSNorm(epsilon=1e-6, in_channels=16)
        self.post_attention_layernorm = nn.RMSNorm(epsilon=1e-6, in_channels=16)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class _Model(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(32, 16)
        self.layers = nn.HybridSequential()
        self.layers.add(_Layer(), _Layer())
        self.norm = nn.RMSNorm(epsilon=1e-6, in_channels=16)

    def hybrid_forward(self, F: Any, tokens: Any) -> Any:
        return self.norm(self.layers(self.embed_tokens(tokens)))


class Llama(gluon.HybridBlock):
    """The network of ``llama.npz``, with its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.model = _Model()
        self.lm_head = nn.Dense(32, flatten=False, use_bias=False, in_units=16)
        self.initialize()
        with np.load(GOLDEN / "llama.npz") as arrays:
            for name, parameter in self._collect_params_with_prefix().items():
                value = arrays[name.replace(".gamma", ".weight")]
                parameter.set_data(nd.array(value))

    def hybrid_forward(self, F: Any, tokens: Any) -> Any:
        return self.lm_head(self.model(tokens))


def tokens_and_output() -> tuple[Any, np.ndarray[Any, Any]]:
    """Return the golden tokens, and the scores of transformers without an adapter."""
    with np.load(GOLDEN / "llama.npz") as arrays:
        return nd.array(arrays["tokens"]), arrays["output"]


def _write(folder: Path) -> None:
    tokens, _ = tokens_and_output()
    every = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    cases: dict[str, dict[str, Any]] = {
        "list": {"targets": ["q_proj", "v_proj"], "rank": 4, "alpha": 6.0},
        "every": {"targets": every, "rank": 3, "alpha": 8.0, "dropout": 0.1},
        "rslora": {"targets": r".*0.*o_proj|lm_head", "rank": 2, "alpha": 3.0, "use_rslora": True},
    }
    for name, options in cases.items():
        net = Llama()
        lora.apply(net, **options)
        for parameter in net.collect_params(".*lora_[ab]").values():
            parameter.initialize(initializer.Normal(0.3), force_reinit=True)
        lora.save(net, folder / name)
        np.save(folder / name / "output.npy", net(tokens).asnumpy())


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
