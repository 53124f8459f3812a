"""Outputs that bring the gradient of their loss with them, and losses as operators."""
