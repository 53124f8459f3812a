"""NumPy kernels for work so small that calling another library would cost more."""
