"""The operators of ``nd.sparse`` and ``sym.sparse``, by their names there."""

from collections.abc import Mapping
from types import MappingProxyType

_SAME = """
    ElementWiseSum Embedding FullyConnected LinearRegressionOutput LogisticRegressionOutput
    MAERegressionOutput abs adam_update add_n arccos arccosh arcsin arcsinh arctan arctanh
    broadcast_add broadcast_div broadcast_minus broadcast_mul broadcast_plus broadcast_sub
    cast_storage cbrt ceil clip concat cos cosh degrees dot elemwise_add elemwise_div elemwise_mul
    elemwise_sub exp expm1 fix floor ftrl_update gamma gammaln log log10 log1p log2 make_loss mean
    negative norm radians relu rint round rsqrt sgd_mom_update sgd_update sigmoid sign sin sinh
    slice sqrt square stop_gradient sum tan tanh trunc where zeros_like
"""

OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in _SAME.split()},
        "adagrad_update": "_sparse_adagrad_update",
        "retain": "_sparse_retain",
    }
)
