"""Branch and commit of the build, which gluonish does not have."""

__all__ = ["get_branch", "get_commit_hash"]


def get_branch() -> str:
    """Return the branch of the build: empty, as gluonish is not built."""
    return ""


def get_commit_hash() -> str:
    """Return the commit of the build: empty, as gluonish is not built."""
    return ""
