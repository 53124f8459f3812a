"""Parser of einsum subscripts such as ``"...ij,jk->...ik"``."""

from typing import NamedTuple

from gluonish.core.errors import OperatorError
from gluonish.core.spec import Shape

NAME = "_npi_einsum"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DOTS = "..."


class Terms(NamedTuple):
    """Subscripts without ellipsis, and the extents of their labels.

    Attributes:
        inputs: Labels of each operand, one letter an axis.
        output: Labels of the output.
        extents: Extent of each label; an operand may have 1 instead.
        stretched: Whether an operand broadcasts along a label.
    """

    inputs: tuple[str, ...]
    output: str
    extents: dict[str, int]
    stretched: bool

    @property
    def subscripts(self) -> str:
        """The subscripts as text."""
        return f"{','.join(self.inputs)}->{self.output}"


def _refuse(expected: str, subscripts: str) -> OperatorError:
    return OperatorError(f"{NAME}: expected {expected}, got subscripts {subscripts!r}")


def _check_letters(term: str, subscripts: str) -> None:
    letters = term.replace(_DOTS, "", 1)
    if not all(letter in _LETTERS for letter in letters):
        raise _refuse("letters, commas, one arrow and an ellipsis a term", subscripts)


def _split(subscripts: str, count: int) -> tuple[list[str], str | None]:
    """Return the terms of the operands, and of the output or None if it is omitted."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    for term in (*inputs, output):
        _check_letters(term, subscripts)
    if len(inputs) != count:
        raise _refuse(f"one term for each of {count} arrays", subscripts)
    return inputs, output if arrow else None


def _ellipsis_rank(term: str, shape: Shape, subscripts: str) -> int:
    """Return the number of axes of an operand's ellipsis."""
    rank = len(shape) - len(term.replace(_DOTS, ""))
    if rank < 0 or (rank and _DOTS not in term):
        raise _refuse(f"a term for the {len(shape)} axes of {shape}", subscripts)
    return rank


def read_terms(subscripts: str, shapes: tuple[Shape, ...]) -> Terms:
    """Parse subscripts: replace the ellipsis by unused letters, and complete the output.

    Raises:
        OperatorError: The subscripts are malformed, or do not fit the shapes.
    """
    inputs, output = _split(subscripts, len(shapes))
    ranks = [_ellipsis_rank(t, s, subscripts) for t, s in zip(inputs, shapes, strict=True)]
    widest = max(ranks)
    free = [letter for letter in _LETTERS if letter not in subscripts]
    if widest > len(free):
        raise _refuse("at most 52 letters for all axes", subscripts)
    dots = "".join(free[:widest])
    if output is None:
        joined = "".join(inputs).replace(_DOTS, "")
        output = _DOTS + "".join(sorted(c for c in joined if joined.count(c) == 1))
    elif widest and _DOTS not in output:
        raise _refuse(
            "an ellipsis in the output, since an input has axes in an ellipsis", subscripts
        )
    full = tuple(t.replace(_DOTS, dots[widest - r :]) for t, r in zip(inputs, ranks, strict=True))
    output = output.replace(_DOTS, dots)
    if len(set(output)) != len(output) or not set(output) <= set("".join(full)):
        raise _refuse("each output label once, and in an input", subscripts)
    return _with_extents(full, output, shapes, subscripts)


def _with_extents(
    inputs: tuple[str, ...], output: str, shapes: tuple[Shape, ...], subscripts: str
) -> Terms:
    extents: dict[str, int] = {}
    pairs: set[tuple[str, int]] = set()
    for term, shape in zip(inputs, shapes, strict=True):
        in_term: dict[str, int] = {}
        for label, extent in zip(term, shape, strict=True):
            known = extents.get(label, 1)
            if in_term.setdefault(label, extent) != extent or (
                known != extent and 1 not in (known, extent)
            ):
                raise OperatorError(
                    f"{NAME}: expected one size per label in {subscripts!r}, got shapes "
                    f"{', '.join(map(str, shapes))}"
                )
            extents[label] = extent if known == 1 else known
            pairs.add((label, extent))
    return Terms(inputs, output, extents, len(pairs) > len(extents))
