"""Random samplers, and densities of distributions."""
