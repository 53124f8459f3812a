"""Functions of MXNet's `mx.nd` that are not supported; their errors name the replacement."""

from typing import Any, NoReturn

from gluonish.core.errors import NotSupportedError


def imdecode(
    str_img: bytes,
    clip_rect: tuple[int, int, int, int] = (0, 0, 0, 0),
    out: Any = None,
    index: int = 0,
    channels: int = 3,
    mean: Any = None,
) -> NoReturn:
    """Refuse: MXNet 1.9.1 has this deprecated function and fails in it for every image.

    Args:
        str_img: Bytes of an image's file.
        clip_rect: Left, upper, right and lower edge of the crop, in pixels.
        out: Array to fill.
        index: Index in ``out``.
        channels: 1 for grey.
        mean: Array to subtract.

    Raises:
        NotSupportedError: Always; `mx.image.imdecode` decodes.
    """
    raise NotSupportedError(
        "nd.imdecode: expected mx.image.imdecode(bytes), which decodes to (height, width, "
        "channels); got the deprecated function, which fails in MXNet 1.9.1, too"
    )


def new_empty_handle() -> NoReturn:
    """Refuse: arrays of gluonish have no handle in a C library.

    Raises:
        NotSupportedError: Always; `mx.nd.empty` makes an array.
    """
    raise NotSupportedError(
        "_new_empty_handle: expected mx.nd.empty(shape); gluonish has no C library and no handles"
    )
