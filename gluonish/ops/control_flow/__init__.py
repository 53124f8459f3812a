"""Control flow: operators that run subgraphs."""
