"""Kernels of NumPy alone, for work so small that another library's call costs more."""
