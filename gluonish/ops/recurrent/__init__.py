"""The RNN operator, its cells, and single cell steps."""
