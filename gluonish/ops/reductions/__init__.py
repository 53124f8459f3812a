"""Reductions over axes, sorting and top-k."""
