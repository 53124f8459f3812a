"""A plugin of pytest, ``-p benchmarks.gpu_run.pytest_on_double``: ``gpu`` tests run on the double.

tests/conftest.py asks ``import cupy`` whether there is a device, and gets the double.
"""

from benchmarks.gpu_run.rehearsal import Rehearsal

pytest_plugins = ("tests.kernels.cupy.sample",)

Rehearsal(capacity=8 << 30).install()
