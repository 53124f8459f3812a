"""`nd.np` and `nd.npx`: what `F.np` and `F.npx` are where a `hybrid_forward` computes on arrays."""
