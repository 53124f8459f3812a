"""Optimizer steps."""
