"""The operators behind NumPy's names: `_npi_`, `_np_` and `_npx_`."""
