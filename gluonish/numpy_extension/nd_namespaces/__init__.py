"""`nd.np` and `nd.npx`: `F.np` and `F.npx` inside a `hybrid_forward` that computes on arrays."""
