"""Errors, options, devices, dtypes, attribute schemas and Spec: the base of all other packages."""
