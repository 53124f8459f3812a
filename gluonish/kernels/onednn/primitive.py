"""Primitive descriptors: an operation for fixed shapes, for which the library has chosen an
implementation."""

from gluonish.kernels.onednn.api import Api, OneDNNError
from gluonish.kernels.onednn.memory import Descriptor

__all__ = ["PrimitiveDescriptor"]


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
