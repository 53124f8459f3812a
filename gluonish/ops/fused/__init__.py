"""Operators that a plan fuses, to pass over memory once."""
