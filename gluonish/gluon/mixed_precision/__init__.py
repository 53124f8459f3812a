"""Mixed precision: lists of operators, scopes with casts, and loss scales of a Trainer.

`mx.contrib.amp` has its functions.
"""
