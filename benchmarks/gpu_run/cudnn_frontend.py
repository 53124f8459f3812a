"""cuDNN's front end, the package nvidia-cudnn-frontend, as gluonish loads it: without PyTorch."""

import sys
from typing import Any

from benchmarks.gpu_run.rows import Refused


def load() -> Any:
    """Return the compiled module.

    Raises:
        Refused: it, or cuDNN, is not there.
    """
    from gluonish.core.errors import DeviceError
    from gluonish.kernels.cupy.libraries import load_front_end

    try:
        module = load_front_end()
    except (DeviceError, ImportError) as error:
        raise Refused(f"no front end of cuDNN: {error}") from error
    # Attention's gradient imports the package, which would load the module a second time.
    sys.modules.setdefault("cudnn", module)
    return module
