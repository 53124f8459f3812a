"""Indexing operators: slicing, gathering and scattering."""
