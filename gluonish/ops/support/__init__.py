"""Shared code of operators: shapes, precision, sums, windows, random numbers. No operators."""
