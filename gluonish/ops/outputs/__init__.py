"""Output operators, which define the gradient of their loss, and losses as operators."""
