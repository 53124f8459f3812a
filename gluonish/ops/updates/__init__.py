"""Optimizer steps beyond those of `gluonish.ops.updates.update`."""
