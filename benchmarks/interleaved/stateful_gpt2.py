"""GPT-2 for OpenVINO: a folder of transformers' format as a model that holds its cache itself.

The model reads tokens (1, T), their positions (1, T) and an index (1,) of the row that the cache
goes on from, and gives the scores of the last token (1, vocabulary). Its keys and values are
OpenVINO's variables, in the form that its CPU plugin extends in place.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np


def stateful_gpt2(folder: str) -> Any:
    """Return the model of OpenVINO for a folder of GPT-2.

    Args:
        folder: Folder of config.json and model.safetensors.
    """
    library: Any = importlib.import_module("openvino")
    torch: Any = importlib.import_module("torch")
    transformations: Any = importlib.import_module("openvino._offline_transformations")
    config = json.loads((Path(folder) / "config.json").read_text())
    layers, heads = config["n_layer"], config["n_head"]
    size = config["n_embd"] // heads
    network = _network(torch, folder, config)
    numbers = [torch.arange(2)[None], torch.arange(2)[None], torch.zeros(1, dtype=torch.int32)]
    past = [torch.zeros(1, heads, 3, size) for _ in range(2 * layers)]
    shapes: list[Any] = [[1, -1], [1, -1], [1], *[[1, heads, -1, size]] * len(past)]
    with torch.no_grad():
        model = library.convert_model(
            network,
            example_input=(*numbers, *past),
            input=[library.PartialShape(shape) for shape in shapes],
        )
    for name, port in zip(("tokens", "positions", "row"), model.inputs, strict=False):
        port.get_tensor().set_names({name})
    pairs = {}
    for i in range(len(past)):
        pairs[f"past{i}"] = f"present{i}"
        model.inputs[3 + i].get_tensor().set_names({f"past{i}"})
        model.outputs[1 + i].get_tensor().set_names({f"present{i}"})
    transformations.apply_make_stateful_transformation(model, pairs)
    _begin_empty(model, importlib.import_module("openvino.opset13"), heads, size)
    return model


def _begin_empty(model: Any, opset: Any, heads: int, size: int) -> None:
    """Let the variables begin without a token, as the CPU plugin's fused attention requires."""
    rows = opset.shape_of(model.input("row"), "i64")
    rest = opset.constant(np.array([heads, 0, size], np.int64))
    empty = opset.broadcast(opset.constant(np.float32(0)), opset.concat([rows, rest], 0))
    for node in model.get_ops():
        if node.get_type_name() == "ReadValue":
            node.set_arguments([empty.output(0)])
    model.validate_nodes_and_infer_types()


def _network(torch: Any, folder: str, config: dict[str, Any]) -> Any:
    """Return the network with explicit keys and values, as a module of PyTorch."""
    load: Any = importlib.import_module("safetensors.torch").load_file
    weights = {
        name.removeprefix("transformer."): value
        for name, value in load(Path(folder) / "model.safetensors").items()
    }
    functions, heads = torch.nn.functional, config["n_head"]
    count, units = config["n_layer"], config["n_embd"]

    def dense(x: Any, name: str) -> Any:
        return functions.linear(x, weights[f"{name}.weight"].T, weights[f"{name}.bias"])

    def norm(x: Any, name: str) -> Any:
        rest = (weights[f"{name}.weight"], weights[f"{name}.bias"], config["layer_norm_epsilon"])
        return functions.layer_norm(x, (units,), *rest)

    class Network(torch.nn.Module):  # type: ignore[misc]  # a class of a module given
        def forward(self, tokens: Any, positions: Any, row: Any, *past: Any) -> Any:
            x = weights["wte.weight"][tokens] + weights["wpe.weight"][positions]
            reach = torch.arange(past[0].shape[2] + tokens.shape[1])
            mask = (reach[None, :] <= positions[0, :, None])[None, None]
            present = []
            for i in range(count):
                layer = f"h.{i}"
                joined = dense(norm(x, f"{layer}.ln_1"), f"{layer}.attn.c_attn")
                q, *new = (
                    part.unflatten(-1, (heads, -1)).transpose(1, 2)
                    for part in joined.split(units, dim=-1)
                )
                held = [
                    torch.cat([old.index_select(0, row), part], dim=2)
                    for old, part in zip(past[2 * i : 2 * i + 2], new, strict=True)
                ]
                present += held
                made = functions.scaled_dot_product_attention(q, *held, attn_mask=mask)
                x = x + dense(made.transpose(1, 2).flatten(2), f"{layer}.attn.c_proj")
                wide = dense(norm(x, f"{layer}.ln_2"), f"{layer}.mlp.c_fc")
                wide = functions.gelu(wide, approximate="tanh")
                x = x + dense(wide, f"{layer}.mlp.c_proj")
            last = norm(x[:, -1], "ln_f")
            head = weights.get("lm_head.weight", weights["wte.weight"])
            return (functions.linear(last, head), *present)

    return Network().eval()
