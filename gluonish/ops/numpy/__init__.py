"""Operators of mx.np and mx.npx: `_npi_`, `_np_` and `_npx_`."""
