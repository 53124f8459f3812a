"""Output operators and losses: what they compute at inference."""

from gluonish.onnx.exporting.call import Call
from gluonish.onnx.exporting.steps import softmax
from gluonish.onnx.exporting.tensors import Tensor


def _softmax_output(call: Call) -> Tensor:
    x = call.x
    if call["multi_output"]:
        return softmax(x, 1)
    if call["preserve_shape"] or x.rank == 2:
        return softmax(x, x.rank - 1)
    flat = call("Flatten", x, axis=1)
    return call("Reshape", softmax(flat, 1), call("Shape", x))


TABLE = {
    "SoftmaxOutput": _softmax_output,
    "LinearRegressionOutput": lambda call: call.x,
    "MAERegressionOutput": lambda call: call.x,
    "SVMOutput": lambda call: call.x,
    "LogisticRegressionOutput": lambda call: call("Sigmoid", call.x),
}
