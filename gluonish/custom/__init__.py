"""Operators that users write in Python: CustomOp, its forerunners, and how they are called."""
