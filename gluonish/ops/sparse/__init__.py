"""Operators of sparse arrays: their dense equivalents, and kernels on sparse storage."""
