"""What lower floors have from upper ones: declared here, filled in by `gluonish.mxnet_names.start`.

A lower floor names nothing above it. It takes what it needs of that from here, at its first use.
"""

__all__ = ["ndarray_names"]

# Of the namespace ``nd``: names of upper floors, each with its target as of `gluonish.core.lazy`.
ndarray_names: dict[str, str] = {}
