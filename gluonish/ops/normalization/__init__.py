"""Operators that bring values to mean 0 and variance 1, or to a length, and their parts."""
