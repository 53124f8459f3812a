"""`mx.contrib.tensorrt`: NVIDIA's TensorRT, which is not supported yet.

Functions of MXNet that gluonish does not have yet, which raise an error when they are called.

Programs import complete packages and call some functions only under an option, so the import must
not fail.
"""

from collections.abc import Callable
from typing import NoReturn

from gluonish.core.errors import NotSupportedError


def later(name: str, instead: str) -> Callable[..., NoReturn]:
    """Return a function that raises NotSupportedError.

    Args:
        name: Dotted name of the function, without ``mx.``.
        instead: Advice for the message.
    """

    def function(*args: object, **kwargs: object) -> NoReturn:
        raise NotSupportedError(f"mx.{name}: gluonish does not have it yet; {instead}")

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = (
        f"Not supported: gluonish does not have ``mx.{name}`` yet; {instead}.\n\n"
        "Raises:\n    NotSupportedError: Always."
    )
    return function


__all__ = ["get_use_fp16", "init_tensorrt_params", "set_use_fp16"]

_GPU = "until then a hybridized network runs on the GPU with cuDNN"

get_use_fp16 = later("contrib.tensorrt.get_use_fp16", _GPU)
init_tensorrt_params = later("contrib.tensorrt.init_tensorrt_params", _GPU)
set_use_fp16 = later("contrib.tensorrt.set_use_fp16", _GPU)
