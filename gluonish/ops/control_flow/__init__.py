"""Control flow: operators that run other graphs, which they own."""
