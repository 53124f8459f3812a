"""One command that proves gluonish on a GPU and measures it: see ``__main__``."""
