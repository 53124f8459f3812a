"""Tokens that networks of GGUF files are run on."""

TOKENS = [[1, 5, 9, 200, 30, 2, 77, 8], [3, 3, 250, 4, 0, 11, 12, 13]]
