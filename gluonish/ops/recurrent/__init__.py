"""The RNN operator, its cells, and single steps of cells."""
