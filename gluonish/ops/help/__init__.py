"""Texts for the help of functions that are made from operators."""
