"""Operators of sparse arrays: what they mean on dense ones, and the sums behind the sparse ones."""
