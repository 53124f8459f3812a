"""A network as an ONNX file.

    python -m benchmarks.interleaved.onnx_file resnet50_v1.json resnet50_v1.onnx 8

for batches of 8; it needs the package onnx.
"""

import sys
from collections.abc import Callable
from typing import Any

import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.interleaved.graph import Network, Step, read_network, window
from benchmarks.interleaved.weights import parameter

_OPSET = 17
_IR_VERSION = 9


def _convolution(step: Step) -> list[Any]:
    shape = window(step.attrs)
    return [
        helper.make_node(
            "Conv",
            step.inputs,
            [step.name],
            kernel_shape=shape.kernel,
            strides=shape.stride,
            pads=shape.pad * 2,
            dilations=shape.dilate,
            group=step.attrs.get("num_group", 1),
        )
    ]


def _dense(step: Step) -> list[Any]:
    data, *rest = step.inputs
    flat = f"{step.name}_flat"
    return [
        helper.make_node("Flatten", [data], [flat], axis=1),
        helper.make_node("Gemm", [flat, *rest], [step.name], transB=1),
    ]


def _batch_norm(step: Step) -> list[Any]:
    epsilon = step.attrs.get("eps", 1e-3)
    if step.attrs.get("fix_gamma", True):
        raise ValueError(f"{step.name}: expected fix_gamma False, got True")
    return [helper.make_node("BatchNormalization", step.inputs, [step.name], epsilon=epsilon)]


def _activation(step: Step) -> list[Any]:
    names = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus"}
    return [helper.make_node(names[step.attrs["act_type"]], step.inputs, [step.name])]


def _clip(step: Step) -> list[Any]:
    limits = [f"{step.name}_{end}" for end in ("min", "max")]
    values = [float(step.attrs[key]) for key in ("a_min", "a_max")]
    constants = [
        helper.make_node("Constant", [], [name], value_float=value)
        for name, value in zip(limits, values, strict=True)
    ]
    return [*constants, helper.make_node("Clip", [*step.inputs, *limits], [step.name])]


def _pooling(step: Step) -> list[Any]:
    attrs, maximum = step.attrs, step.attrs.get("pool_type", "max") == "max"
    kind = "MaxPool" if maximum else "AveragePool"
    if attrs.get("global_pool", False):
        return [helper.make_node(f"Global{kind}", step.inputs, [step.name])]
    shape = window(attrs)
    options: dict[str, Any] = {
        "kernel_shape": shape.kernel,
        "strides": shape.stride,
        "pads": shape.pad * 2,
        "ceil_mode": int(attrs.get("pooling_convention", "valid") == "full"),
    }
    if not maximum:
        options["count_include_pad"] = int(attrs.get("count_include_pad", True) is not False)
    return [helper.make_node(kind, step.inputs, [step.name], **options)]


def _concat(step: Step) -> list[Any]:
    axis = step.attrs.get("dim", 1)
    return [helper.make_node("Concat", step.inputs, [step.name], axis=axis)]


def _add(step: Step) -> list[Any]:
    return [helper.make_node("Add", step.inputs, [step.name])]


def _flatten(step: Step) -> list[Any]:
    return [helper.make_node("Flatten", step.inputs, [step.name], axis=1)]


def _dropout(step: Step) -> list[Any]:
    return [helper.make_node("Identity", step.inputs, [step.name])]


_NODES: dict[str, Callable[[Step], list[Any]]] = {
    "Convolution": _convolution,
    "FullyConnected": _dense,
    "BatchNorm": _batch_norm,
    "Activation": _activation,
    "clip": _clip,
    "Pooling": _pooling,
    "Concat": _concat,
    "elemwise_add": _add,
    "broadcast_add": _add,
    "_plus": _add,
    "Flatten": _flatten,
    "flatten": _flatten,
    "Dropout": _dropout,
}


def write_onnx(network: Network, path: str, batch_size: int) -> None:
    """Write a network for batches of one size, with the benchmark's parameters."""
    nodes = [node for step in network.steps for node in _NODES[step.op](step)]
    data = (batch_size, *network.shape)
    output = network.steps[-1].name
    read = {name for step in network.steps for name in step.inputs}
    graph = helper.make_graph(
        nodes,
        network.name,
        [helper.make_tensor_value_info("data", TensorProto.FLOAT, data)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, (batch_size, network.classes))],
        [
            numpy_helper.from_array(parameter(name, shape), name)
            for name, shape in network.parameters.items()
            if name in read
        ],
    )
    opset = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
    onnx.checker.check_model(model)
    onnx.save(model, path)


if __name__ == "__main__":
    write_onnx(read_network(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
