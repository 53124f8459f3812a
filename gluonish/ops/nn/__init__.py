"""Operators of neural network layers."""
