"""Which operators compute in float16: the lists come with `mx.contrib.amp` itself."""

from typing import NoReturn

from gluonish.contrib.later import LaterAttributeError

__all__: list[str] = []


def __getattr__(name: str) -> NoReturn:
    raise LaterAttributeError(
        f"{__name__}: expected no use of lists that gluonish does not have yet, got {name}"
    )
