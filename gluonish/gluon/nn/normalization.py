"""Normalization: what layers share that scale and shift what they have normalized."""

from gluonish.core.number_check import check_attributes
from gluonish.gluon.block.hybrid_block import HybridBlock
from gluonish.gluon.parameter import ParameterDict
from gluonish.gluon.parameter.parameter import Init

__all__ = ["Normalization"]

_REQ = {True: "write", False: "null"}  # of what is trained, and of what is not


class Normalization(HybridBlock):
    """Base of `LayerNorm`, `GroupNorm` and `InstanceNorm`: ``gamma``, ``beta`` and the settings.

    Args:
        extent: Number of entries of ``gamma`` and ``beta``; 0 infers it from the first batch.
        epsilon: Small constant added to the variance to avoid division by zero.
        center: Whether ``beta`` is trained; if not, it stays at its initial value.
        scale: Whether ``gamma`` is trained; if not, it stays at its initial value.
        beta_initializer: Initializer of ``beta`` (extent,).
        gamma_initializer: Initializer of ``gamma`` (extent,).
        prefix: See `HybridBlock`.
        params: See `HybridBlock`.
    """

    def __init__(
        self,
        extent: int,
        epsilon: float,
        center: bool,
        scale: bool,
        beta_initializer: Init,
        gamma_initializer: Init,
        prefix: str | None = None,
        params: ParameterDict | None = None,
    ) -> None:
        check_attributes(type(self).__name__, epsilon=epsilon)
        super().__init__(prefix=prefix, params=params)
        self._epsilon = epsilon
        self._center = center
        self._scale = scale
        declare = self.params._declare
        self.gamma = declare("gamma", (extent,), gamma_initializer, grad_req=_REQ[bool(scale)])
        self.beta = declare("beta", (extent,), beta_initializer, grad_req=_REQ[bool(center)])
