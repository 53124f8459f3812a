"""Errors, options, devices, dtypes, attribute schemas and Spec: what all else stands on."""
