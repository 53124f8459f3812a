"""Primitive descriptors and their attributes."""

import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from gluonish.kernels.onednn.api import AlgorithmKind, Api, Argument, OneDNNError
from gluonish.kernels.onednn.memory import Descriptor


class PrimitiveDescriptor:
    """An owned ``dnnl_primitive_desc_t``: an operation on fixed shapes, and its implementation.

    Args:
        function: Name of the ``dnnl_*_primitive_desc_create`` function.
        arguments: The function's arguments after the first.

    Raises:
        OneDNNError: The library has no implementation, or the shapes do not match.
    """

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(self, api: Api, function: str, *arguments: object) -> None:
        self.api = api
        self.handle = api.create(self, "dnnl_primitive_desc_destroy", function, *arguments)

    def layout_of(self, argument: int) -> Descriptor:
        """Return an owned copy of the layout that the primitive requires for ``argument``.

        Raises:
            OneDNNError: The primitive has no such argument.
        """
        borrowed = self.api.argument_descriptor(self.handle, argument)
        if not borrowed:
            raise OneDNNError(f"oneDNN: expected an argument of the primitive, got {argument}")
        return Descriptor.copied(self.api, borrowed)

    @property
    def implementation(self) -> str:
        """The library's name for the implementation, such as ``brgconv:avx512_core``."""
        return self.api.implementation(self.handle)


_SAME_TYPE = 0  # the addend has the type of the output
# Klambauer et al., Self-Normalizing Neural Networks, 2017, section 2.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717


class Eltwise(NamedTuple):
    """An elementwise function of the library and its two parameters."""

    kind: AlgorithmKind
    alpha: float = 0.0
    beta: float = 0.0


def _one(kind: AlgorithmKind, alpha: float = 0.0) -> Callable[[float, float], tuple[Eltwise, ...]]:
    return lambda *_: (Eltwise(kind, alpha),)


# The functions that compose each activation of `gluonish.ops.fused.activation` with parameters
# alpha and beta. The library's relu is alpha x below zero.
ELTWISE: Mapping[str, Callable[[float, float], tuple[Eltwise, ...]]] = {
    "relu": _one(AlgorithmKind.ELTWISE_RELU),
    "sigmoid": _one(AlgorithmKind.ELTWISE_LOGISTIC),
    "softrelu": _one(AlgorithmKind.ELTWISE_SOFT_RELU, 1.0),
    "tanh": _one(AlgorithmKind.ELTWISE_TANH),
    "elu": lambda alpha, beta: (Eltwise(AlgorithmKind.ELTWISE_ELU, alpha),),
    "gelu": _one(AlgorithmKind.ELTWISE_GELU_ERF),
    "gelu_tanh": _one(AlgorithmKind.ELTWISE_GELU_TANH),
    "leaky": lambda alpha, beta: (Eltwise(AlgorithmKind.ELTWISE_RELU, alpha),),
    "selu": lambda alpha, beta: (
        Eltwise(AlgorithmKind.ELTWISE_ELU, _SELU_ALPHA),
        Eltwise(AlgorithmKind.ELTWISE_LINEAR, _SELU_SCALE),
    ),
    "clip": lambda alpha, beta: (Eltwise(AlgorithmKind.ELTWISE_CLIP, alpha, beta),),
    "hard_sigmoid": lambda alpha, beta: (Eltwise(AlgorithmKind.ELTWISE_HARDSIGMOID, alpha, beta),),
    "mish": _one(AlgorithmKind.ELTWISE_MISH),
    "swish": lambda alpha, beta: (Eltwise(AlgorithmKind.ELTWISE_SWISH, alpha),),
}


class PostOps(NamedTuple):
    """The post-ops of a primitive.

    Attributes:
        addend: ``"in_place"`` to accumulate into the output, ``"separate"`` to add another array of
            the output's layout, None to add nothing.
        functions: Elementwise functions to apply, in order, after the sum.
    """

    addend: str | None = None
    functions: tuple[Eltwise, ...] = ()


class Attributes:
    """An owned ``dnnl_primitive_attr_t`` with post-ops and a scratchpad of the caller's.

    Args:
        addend: Layout of a separate addend.
    """

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(self, api: Api, post_ops: PostOps, addend: Descriptor | None = None) -> None:
        self.api = api
        self.handle = api.create_attributes(self)
        chain = api.create_post_ops(self)
        if post_ops.addend == "in_place":
            api.call("dnnl_post_ops_append_sum", chain, 1.0, 0, _SAME_TYPE)
        elif addend is not None:
            kind = AlgorithmKind.BINARY_ADD
            api.call("dnnl_post_ops_append_binary", chain, kind, addend.handle)
        for kind, alpha, beta in post_ops.functions:
            low, high = _finite(alpha), _finite(beta)
            api.call("dnnl_post_ops_append_eltwise", chain, kind, low, high)
        api.call("dnnl_primitive_attr_set_post_ops", self.handle, chain)


class Chain:
    """An owned ``dnnl_primitive_attr_t``: scales, and post-ops in any order.

    Args:
        operations: Functions, and operations with another array by its layout.
        scales: For each argument with scales, the axes that have scales, as bits.
    """

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(
        self,
        api: Api,
        operations: Iterable[Eltwise | tuple[AlgorithmKind, Descriptor]],
        scales: Mapping[Argument, int] = MappingProxyType({}),
    ) -> None:
        self.api = api
        self.handle = api.create_attributes(self)
        for argument, mask in scales.items():
            api.call("dnnl_primitive_attr_set_scales_mask", self.handle, argument, mask)
        chain = api.create_post_ops(self)
        for operation in operations:
            if isinstance(operation, Eltwise):
                api.call("dnnl_post_ops_append_eltwise", chain, *operation)
            else:
                kind, layout = operation
                api.call("dnnl_post_ops_append_binary", chain, kind, layout.handle)
        api.call("dnnl_primitive_attr_set_post_ops", self.handle, chain)


def _finite(number: float) -> float:
    """Replace an infinite limit of clip by the largest float32."""
    largest = 3.4028234663852886e38
    return math.copysign(largest, number) if math.isinf(number) else number
