"""Compatibility modules under MXNet's names, implemented mostly elsewhere."""
