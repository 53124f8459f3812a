"""Random samplers beyond `gluonish.ops.random`, and densities of distributions."""
