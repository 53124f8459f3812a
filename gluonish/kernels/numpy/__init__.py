"""Kernels by NumPy, for work so small that calling another library costs more."""
