"""Operators that stand for themselves: contrib, mixed precision, and MXNet's internal ones."""
