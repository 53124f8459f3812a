"""Positions in arrays."""
