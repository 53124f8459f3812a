"""Static graphs: nodes, tracing, gradients, passes, memory plan and execution."""
