"""Make onnx_transformer.npz: what ONNX Runtime computes of ONNX's operators of transformers.

Run it with a virtual environment that has onnx and onnxruntime (1.32), from anywhere:

    torch/bin/python tests/golden/make_onnx_transformer.py

Each array's name is that of its case, a dot, and its role: ``model`` (the bytes of a file with one
node), ``x0``, ``x1``.. (inputs) and ``y0``, ``y1``.. (outputs).
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import helper

ARRAYS: dict[str, np.ndarray] = {}
RNG = np.random.default_rng(23)


def normal(*shape: int) -> np.ndarray:
    """Numbers with few digits, so that the file packs well."""
    return ((RNG.standard_normal(shape) * 8).round() / 8).astype(np.float32)


def record(
    case: str,
    kind: str,
    *arrays: np.ndarray | None,
    outputs: int = 1,
    opset: int = 23,
    **attrs: Any,
) -> None:
    """Run one node and keep its model, inputs and outputs."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(arrays)]
    given = {name: x for name, x in zip(names, arrays, strict=True) if x is not None}
    made = [f"y{i}" for i in range(outputs)]
    element = {n: helper.np_dtype_to_tensor_dtype(x.dtype) for n, x in given.items()}
    graph = helper.make_graph(
        [helper.make_node(kind, names, made, **attrs)],
        case,
        [helper.make_tensor_value_info(n, element[n], x.shape) for n, x in given.items()],
        [helper.make_tensor_value_info(n, element["x0"], None) for n in made],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11)
    data = model.SerializeToString()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    ARRAYS[f"{case}.model"] = np.frombuffer(data, np.uint8)
    ARRAYS.update({f"{case}.{name}": x for name, x in given.items()})
    results = session.run(made, given)
    ARRAYS.update({f"{case}.{n}": y for n, y in zip(made, results, strict=True)})


def attention() -> None:
    """Record Attention in both layouts, with masks, caps and caches."""
    q, k, v = normal(2, 4, 3, 8), normal(2, 2, 5, 8), normal(2, 2, 5, 6)
    seen = RNG.random((2, 1, 3, 5)) > 0.4
    seen[0, 0, 1] = False  # a query without keys
    added = np.where(seen, normal(2, 1, 3, 5), -np.inf).astype(np.float32)
    kind = "Attention"
    record("plain", kind, q, k, v)
    record("capped", kind, q, k, v, softcap=1.5, scale=0.3)
    record("booleans", kind, q, k, v, seen)
    record("added", kind, q, k, v, added)
    record("causal_from_the_start", kind, q, k, v, is_causal=1)
    record("causal_and_booleans", kind, q, k, v, seen, is_causal=1)
    record("causal_and_added", kind, q, k, v, added, is_causal=1)
    record("halves", kind, *(x.astype(np.float16) for x in (q, k, v)), softmax_precision=1)
    rows = normal(2, 5, 32), normal(2, 5, 16), normal(2, 5, 12)
    record("flat", kind, *rows, q_num_heads=4, kv_num_heads=2)
    record("flat_causal", kind, *rows, q_num_heads=4, kv_num_heads=2, is_causal=1)
    past = normal(2, 2, 4, 8), normal(2, 2, 4, 6)
    new = [x[:, :, :3] for x in (k, v)]
    record("past", kind, q, *new, None, *past, outputs=3)
    record("past_causal", kind, q, *new, None, *past, outputs=3, is_causal=1)
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    record("past_flat_causal", kind, *rows, None, *past, outputs=3, is_causal=1, **heads)
    record("past_longer", kind, q, k, v, None, *past, outputs=3, is_causal=1)


def others() -> None:
    """Record RMSNormalization and RotaryEmbedding."""
    record("rms", "RMSNormalization", normal(2, 3, 8), normal(8), epsilon=1e-6)
    record("rms_of_two_axes", "RMSNormalization", normal(2, 3, 8), normal(3, 8), axis=1)
    angles = RNG.random((10, 4))
    cos, sin = (f(angles).astype(np.float32) for f in (np.cos, np.sin))
    x, places = normal(2, 3, 5, 8), RNG.integers(0, 10, (2, 5))
    kind = "RotaryEmbedding"
    record("rotary", kind, x, cos, sin, places)
    record("rotary_neighbours", kind, x, cos, sin, places, interleaved=1)
    record("rotary_part", kind, x, cos[:, :2], sin[:, :2], places, rotary_embedding_dim=4)
    tables = [np.ascontiguousarray(t[places]) for t in (cos, sin)]
    record("rotary_without_positions", kind, x, *tables)
    record("rotary_flat", kind, normal(2, 5, 24), cos, sin, places, num_heads=3)


if __name__ == "__main__":
    attention()
    others()
    np.savez_compressed(Path(__file__).with_name("onnx_transformer.npz"), **ARRAYS)
