"""Operators that a plan makes of several, to go through memory once."""
