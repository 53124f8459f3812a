"""Contrib operators, mixed-precision casts, and MXNet's internal operators."""
