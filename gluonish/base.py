"""The base error under the name that MXNet programs catch: `mx.base.MXNetError`."""

from gluonish.core.errors import GluonishError as MXNetError

__all__ = ["MXNetError"]
