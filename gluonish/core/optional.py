"""Packages that gluonish can do without: what importing them may raise, and how messages say it."""

# A package that is half installed, or does not fit the others, fails in some way of its own.
IMPORT_FAILURES = (
    ImportError,
    OSError,
    RuntimeError,
    AttributeError,
    TypeError,
    ValueError,
    LookupError,
    SyntaxError,
    SystemError,
    SystemExit,
)


def why_not(error: BaseException) -> str:
    """Return what messages say was found: none, or one that fails, and how.

    Args:
        error: What importing the package raised.
    """
    if isinstance(error, ModuleNotFoundError):
        return "none"
    kind = "" if isinstance(error, ImportError | OSError) else f"{type(error).__name__}: "
    return f"one that cannot be imported ({kind}{' '.join(str(error).split())})"
