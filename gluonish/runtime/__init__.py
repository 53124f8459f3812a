"""`mx.runtime`: features of the installation on this machine."""

from gluonish.runtime.build import get_branch, get_commit_hash
from gluonish.runtime.features import Feature, Features, feature_list

__all__ = ["Feature", "Features", "feature_list", "get_branch", "get_commit_hash"]
