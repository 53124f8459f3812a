"""Operators that reduce axes, or order the elements along one."""
