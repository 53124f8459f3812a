"""Networks in folders of weights as others publish them, and back."""
