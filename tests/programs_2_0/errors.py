"""What a program may catch: the names of the classes that an error belongs to."""

CLASSES = {
    "MXNetError",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "ImportError",
    "IndexError",
    "KeyError",
    "NotImplementedError",
    "OSError",
    "RuntimeError",
    "StopIteration",
    "TypeError",
    "UserWarning",
    "ValueError",
    "ZeroDivisionError",
}


class Caught(tuple):
    """Names of the classes of an error; an ``except`` clause of each of them catches it."""


def error(function, *args, **kwargs):
    """Call ``function``, and return the classes of its error, which may come late."""
    from mxnet import MXNetError, nd

    try:
        found = function(*args, **kwargs)
        for one in found if isinstance(found, (list, tuple)) else [found]:
            if hasattr(one, "asnumpy"):
                one.asnumpy()
        nd.waitall()
    except Exception as found:
        names = {kind.__name__ for kind in type(found).__mro__}
        names |= {"MXNetError"} if isinstance(found, MXNetError) else set()
        return Caught(sorted(names & CLASSES) or ["Exception"])
    return Caught(["none"])
