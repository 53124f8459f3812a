"""Operators that change the shape of arrays, or join and split them."""
