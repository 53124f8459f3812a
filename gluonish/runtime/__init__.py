"""`mx.runtime`: features of the installation on this machine."""

from gluonish.runtime.features import Feature, Features, feature_list

__all__ = ["Feature", "Features", "feature_list", "get_branch", "get_commit_hash"]


def get_branch() -> str:
    """Return the branch of the build: empty, as gluonish is not built."""
    return ""


def get_commit_hash() -> str:
    """Return the commit of the build: empty, as gluonish is not built."""
    return ""
