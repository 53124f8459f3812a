"""Inputs of the networks of text_networks/, for the script that made them and for the tests."""

TOKENS = [[3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9, 7, 9, 3]]
