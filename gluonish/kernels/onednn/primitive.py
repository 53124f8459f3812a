"""Primitive descriptors and their attributes."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gluonish.kernels.onednn.api import AlgorithmKind, Api, OneDNNError
from gluonish.kernels.onednn.memory import Descriptor


class PrimitiveDescriptor:
    """One ``dnnl_primitive_desc_t``, owned: an operation for fixed shapes, with the implementation
    chosen.

    Args:
        api: The library.
        function: The ``dnnl_*_primitive_desc_create`` function.
        arguments: Its arguments after the first.

    Raises:
        OneDNNError: The library has no implementation, or the shapes do not fit.
    """

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(self, api: Api, function: str, *arguments: object) -> None:
        self.api = api
        self.handle = api.create(self, "dnnl_primitive_desc_destroy", function, *arguments)

    def wanted(self, argument: int) -> Descriptor:
        """The layout that the primitive takes or gives for ``argument`` (owned copy).

        Raises:
            OneDNNError: The primitive has no such argument.
        """
        borrowed = self.api.argument_descriptor(self.handle, argument)
        if not borrowed:
            raise OneDNNError(f"oneDNN: expected an argument of the primitive, got {argument}")
        return Descriptor.copied(self.api, borrowed)

    @property
    def implementation(self) -> str:
        """The library's name of the implementation, such as ``brgconv:avx512_core``."""
        return self.api.implementation(self.handle)


_SAME_TYPE = 0  # what is summed has the type of the output
# Klambauer et al., Self-Normalizing Neural Networks, 2017, section 2.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717


class Eltwise(NamedTuple):
    """A function of single elements, as the library names it, and its two numbers."""

    kind: AlgorithmKind
    alpha: float = 0.0
    beta: float = 0.0


def _one(kind: AlgorithmKind, alpha: float = 0.0) -> Callable[[float, float], tuple[Eltwise, ...]]:
    return lambda *_: (Eltwise(kind, alpha),)


# For each activation of `gluonish.ops.fused.activation`, given its numbers alpha and beta, the
# functions that make it up. The library's relu is alpha x below zero.
ELTWISE: Mapping[str, Callable[[float, float], tuple[Eltwise, ...]]] = {
    "relu": _one(AlgorithmKind.ELTWISE_RELU),
    "sigmoid": _one(AlgorithmKind.ELTWISE_LOGISTIC),
    "softrelu": _one(AlgorithmKind.ELTWISE_SOFT_RELU, 1.0),
    "tanh": _one(AlgorithmKind.ELTWISE_TANH),
    "elu": lambda alpha, beta: (Eltwise(AlgorithmKind.ELTWISE_ELU, alpha),),
    "gelu": _one(AlgorithmKind.ELTWISE_GELU_ERF),
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


class Finish(NamedTuple):
    """What a primitive does to its result.

    Attributes:
        addend: ``"out"`` to add what is in its output already, ``"beside"`` to add another array of
            the output's layout, None to add nothing.
        functions: Applied after that, in order.
    """

    addend: str | None = None
    functions: tuple[Eltwise, ...] = ()


class Attributes:
    """One ``dnnl_primitive_attr_t``, owned; the scratchpad is left to the caller.

    Args:
        api: The library.
        finish: What the primitive does to its result.
        addend: Layout of the array that it adds; only for ``"beside"``.
    """

    __slots__ = ("__weakref__", "api", "handle")

    def __init__(self, api: Api, finish: Finish, addend: Descriptor | None = None) -> None:
        self.api = api
        self.handle = api.create_attributes(self)
        chain = api.create_post_ops(self)
        if finish.addend == "out":
            api.call("dnnl_post_ops_append_sum", chain, 1.0, 0, _SAME_TYPE)
        elif addend is not None:
            kind = AlgorithmKind.BINARY_ADD
            api.call("dnnl_post_ops_append_binary", chain, kind, addend.handle)
        for kind, alpha, beta in finish.functions:
            low, high = _finite(alpha), _finite(beta)
            api.call("dnnl_post_ops_append_eltwise", chain, kind, low, high)
        api.call("dnnl_primitive_attr_set_post_ops", self.handle, chain)


def _finite(number: float) -> float:
    """Return a number as the library takes it: no infinite end of clip."""
    largest = 3.4028234663852886e38
    return math.copysign(largest, number) if math.isinf(number) else number
