"""What becomes of each operator in a quantized graph."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from gluonish.contrib.quantization.fusion import CONV, DENSE
from gluonish.graph.ir import Node

__all__ = ["FORMS", "Form", "form_of"]


class Form(NamedTuple):
    """How an operator is quantized.

    Attributes:
        op: Name of the quantized operator.
        data: Number of the first inputs that are quantized data; -1 for all.
        weights: Whether a quantized weight and bias follow.
        must: Whether it is a layer, not an operator between layers.
        wide: Whether it returns int32, which is quantized again afterwards.
        ranged: Whether it needs a range from calibration.
        fits: Function that says whether it supports the attributes of a node.
    """

    op: str
    data: int = 1
    weights: bool = False
    must: bool = False
    wide: bool = False
    ranged: bool = False
    fits: Callable[[Node], bool] = lambda node: True


def _is_relu(node: Node) -> bool:
    return bool(node.attrs["act_type"] == "relu")


def _is_window(node: Node) -> bool:
    return node.attrs["pool_type"] in ("max", "avg")


def _is_channels(node: Node) -> bool:
    return bool(node.attrs["axis"] == 1) and not node.attrs["output_mean_var"]


FORMS: Mapping[str, Form] = {
    CONV: Form(CONV, must=True, wide=True),
    DENSE: Form(DENSE, must=True, wide=True),
    "Convolution": Form("_contrib_quantized_conv", weights=True, must=True, wide=True),
    "FullyConnected": Form(
        "_contrib_quantized_fully_connected", weights=True, must=True, wide=True
    ),
    "Pooling": Form("_contrib_quantized_pooling", fits=_is_window),
    "Flatten": Form("_contrib_quantized_flatten"),
    "Concat": Form("_contrib_quantized_concat", data=-1),
    "Activation": Form("_contrib_quantized_act", fits=_is_relu),
    "BatchNorm": Form("_contrib_quantized_batch_norm", ranged=True, fits=_is_channels),
    "Embedding": Form("_contrib_quantized_embedding", data=0, weights=True),
    "elemwise_add": Form("_contrib_quantized_elemwise_add", data=2, wide=True),
    "elemwise_mul": Form("_contrib_quantized_elemwise_mul", data=2, wide=True),
}


def form_of(node: Node) -> Form | None:
    """Return how a node is quantized; None if it cannot be.

    Args:
        node: The node.
    """
    if node.op is None:
        return None
    found = FORMS.get(node.op.name)
    return found if found is not None and found.fits(node) else None
