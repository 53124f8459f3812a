"""Networks from weights that others trained."""
