"""`mx.runtime`: features of the installation on this machine."""

from gluonish.runtime.features import Feature, Features, feature_list

__all__ = ["Feature", "Features", "feature_list"]
