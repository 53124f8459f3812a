"""Operators on quantized arrays: bytes, and the range of numbers that they stand for."""
