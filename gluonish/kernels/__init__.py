"""Faster kernels, one package a back-end, hung on operators by a predicate.

Without them the reference kernels run.
"""
