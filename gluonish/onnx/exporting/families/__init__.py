"""Translators by family of operators; the TABLE of each module maps registry names to them."""
