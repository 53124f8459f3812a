"""Fast kernels, one package per back end, each registered on operators with a predicate.

Without them operators run their reference kernels.
"""
