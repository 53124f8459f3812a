"""What this installation has on this machine: `mx.runtime`."""

from gluonish.runtime.features import Feature, Features, feature_list

__all__ = ["Feature", "Features", "feature_list"]
