"""Random samplers beyond `gluonish.ops.sampling.random`, and densities of distributions."""
