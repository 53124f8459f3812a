"""Errors, configuration, devices, dtypes, attribute schemas and Spec: what every other part stands on."""
