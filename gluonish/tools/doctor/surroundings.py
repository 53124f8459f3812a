"""The surroundings: folders of kept files, and environment variables."""

import os
from collections.abc import Iterator
from pathlib import Path

from gluonish.core.config import MXNET_HOME, all_flags, variables_with
from gluonish.core.errors import ConfigError
from gluonish.tools.doctor.finding import BROKEN, FOUND, MISSING, Finding

__all__ = ["file_findings", "variable_findings"]

# What the libraries read themselves.
_PREFIXES = (
    *("OMP_", "GOMP_", "KMP_", "DNNL_", "ONEDNN_", "OPENBLAS_", "MKL_", "OPENCV_"),
    *("CUDA_", "CUPY_", "NCCL_", "DMLC_", "MXNET_", "NNVM_", "PS_"),
)


def file_findings() -> Iterator[Finding]:
    """What is kept in the folder that ``MXNET_HOME`` names."""
    home = Path(MXNET_HOME.value)
    if not home.is_dir():
        yield Finding("files", "MXNET_HOME", FOUND, f"{home}, which is made when it is needed")
        return
    if not os.access(home, os.W_OK | os.X_OK):
        advice = "downloads fail, and kernels are compiled anew by each process: set MXNET_HOME"
        yield Finding("files", "MXNET_HOME", BROKEN, f"{home} cannot be written", advice)
    else:
        yield Finding("files", "MXNET_HOME", FOUND, str(home))
    for folder in sorted(path for path in home.iterdir() if path.is_dir()):
        sizes = list(_sizes(folder))
        text = f"{sum(sizes) / 1e6:,.1f} MB in {len(sizes):,} files"
        yield Finding("files", f"{folder.name}/", FOUND, text)


def _sizes(folder: Path) -> Iterator[int]:
    """Bytes of every file below a folder; what goes away meanwhile is left out."""
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                yield os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue


def variable_findings() -> Iterator[Finding]:
    """Which variables are set, of gluonish and of its libraries."""
    flags = {flag.name: flag for flag in all_flags()}
    for name, text in variables_with(*_PREFIXES).items():
        flag = flags.get(name)
        if flag is None:
            ours = name.startswith(("MXNET_", "NNVM_"))
            advice = "gluonish has no such variable; see gluonish env" if ours else ""
            yield Finding("variables", name, MISSING if ours else FOUND, text, advice)
            continue
        try:
            _ = flag.value
        except ConfigError as error:
            yield Finding("variables", name, BROKEN, text, str(error))
        else:
            yield Finding("variables", name, FOUND, text, "" if flag.acts else flag.doc)
