"""Translators by family of operators: each module has a TABLE, by the operators' registry names."""
