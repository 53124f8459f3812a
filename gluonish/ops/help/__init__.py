"""Argument descriptions for the help of operator functions."""
