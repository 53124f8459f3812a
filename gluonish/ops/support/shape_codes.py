"""Reshape's special extents, 0 and -1 to -4, for known and partially known shapes."""

import math

from gluonish.core.errors import OperatorError
from gluonish.core.spec import UNKNOWN, Shape


def split_extent(extent: int, first: int, second: int) -> tuple[int, int]:
    """Split an extent into two factors, one of which may be -1 (inferred)."""
    if first == -1 and second > 0:
        return extent // second, second
    if second == -1 and first > 0:
        return first, extent // first
    return first, second


def filled_in(size: int, target: Shape) -> Shape:
    """Return a shape with its -1 inferred from ``size``."""
    known = math.prod(extent for extent in target if extent != -1)
    missing = size // known if known else 0
    return tuple(missing if extent == -1 else extent for extent in target)


class _Codes:
    """Interpreter of Reshape's codes for a known input shape."""

    def __init__(self, source: Shape, codes: Shape) -> None:
        self.source = source
        self.codes = codes
        self.position = 0  # in source
        self.at = 0  # in codes
        self.target: list[int] = []

    def fail(self, problem: str) -> OperatorError:
        return OperatorError(
            f"Reshape: expected shape to fit data {self.source}, got {self.codes}: {problem}"
        )

    def take(self) -> int:
        """Consume one extent of the input."""
        if self.position >= len(self.source):
            raise self.fail("it uses more axes than data has")
        self.position += 1
        return self.source[self.position - 1]

    def code(self) -> int:
        """Consume one code."""
        if self.at >= len(self.codes):
            raise self.fail("-4 needs two extents after it")
        self.at += 1
        return self.codes[self.at - 1]

    def split(self) -> None:
        """Apply code -4: split an extent into the next two, one of which may be -1."""
        extent = self.take()
        parts = split_extent(extent, self.code(), self.code())
        if parts[0] < 0 or math.prod(parts) != extent:
            raise self.fail(f"-4 cannot split {extent} into {parts[0]} and {parts[1]}")
        self.target += parts

    def run(self) -> Shape:
        """Return the target shape, with at most one -1."""
        while self.at < len(self.codes):
            code = self.code()
            if code == 0:
                self.target.append(self.take())
            elif code == -2:
                self.target += self.source[self.position :]
                self.position = len(self.source)
            elif code == -3:
                self.target.append(self.take() * self.take())
            elif code == -4:
                self.split()
            elif code >= -1:
                self.target.append(code)
                self.position += 1
            else:
                raise self.fail(f"there is no code {code}")
        return tuple(self.target)


def _describe_size(codes: Shape, target: Shape) -> str:
    """Describe the number of elements of an invalid target shape."""
    if codes == target:
        return f" with {math.prod(target)}"
    known = math.prod(n for code, n in zip(codes, target, strict=False) if code != -1)
    if codes.count(-1) == 1 and len(codes) == len(target):
        return f": no value of -1 makes that of {known}"
    return f", which is {target} with {math.prod(target)}"


def resolve_shape(source: Shape, codes: Shape, reverse: bool = False) -> Shape:
    """Return the target shape of Reshape's ``shape``.

    Args:
        source: Shape of the data.
        codes: Extents, where 0 copies an extent of the data, -1 is inferred, -2 copies all
            remaining extents, -3 merges two, -4 splits one into the next two numbers.
        reverse: Whether to match codes and extents from the right.

    Raises:
        OperatorError: The codes do not match the data.
    """
    reading = _Codes(source[::-1], codes[::-1]) if reverse else _Codes(source, codes)
    target = reading.run()
    if target.count(-1) > 1:
        raise OperatorError(f"Reshape: expected at most one -1 in shape, got {codes}")
    size = math.prod(source)
    target = filled_in(size, target)
    if math.prod(target) != size:
        raise OperatorError(
            f"Reshape: expected shape to have the {size} elements of data {source}, got {codes}"
            f"{_describe_size(codes, target)}"
        )
    return target[::-1] if reverse else target


class Exchange:
    """Interpreter of Reshape's codes for partially known shapes, inferring in both directions."""

    def __init__(self, source: list[int], target: list[int], codes: Shape) -> None:
        self.source = source
        self.target = target
        self.codes = iter(codes)
        self.position = 0  # in source

    def run(self) -> None:
        """Process all codes."""
        at = 0
        for code in self.codes:
            at += self._read(code, at)

    def _read(self, code: int, at: int) -> int:
        """Apply a code to the target's axes from ``at`` on; return the number of axes."""
        source, target, position = self.source, self.target, self.position
        if code == -2:
            count = len(source) - position
            for i in range(count):
                self._equal(position + i, at + i)
            self.position = len(source)
            return count
        self.position += 2 if code == -3 else 1
        if code == 0:
            self._equal(position, at)
        elif code == -3:
            first, second, joined = _factors(source[position], source[position + 1], target[at])
            source[position : position + 2], target[at] = [first, second], joined
        elif code == -4:
            pair = [next(self.codes), next(self.codes)]
            pair = [
                n if t == UNKNOWN else t for n, t in zip(pair, target[at : at + 2], strict=True)
            ]
            first, second, joined = _factors(pair[0], pair[1], source[position])
            target[at : at + 2], source[position] = [first, second], joined
            return 2
        elif code > 0:
            target[at] = code
        return 1

    def _equal(self, i: int, j: int) -> None:
        known = self.source[i] if self.source[i] != UNKNOWN else self.target[j]
        self.source[i] = known
        if self.target[j] == UNKNOWN:
            self.target[j] = known


def _factors(first: int, second: int, product: int) -> tuple[int, int, int]:
    """Infer the unknown value among two extents and their product."""
    if UNKNOWN not in (first, second):
        return first, second, first * second
    if product > 0 and first > 0 and product % first == 0:
        return first, product // first, product
    if product > 0 and second > 0 and product % second == 0:
        return product // second, second, product
    return first, second, product


def fill_rest(extents: list[int], others: list[int]) -> None:
    """Infer the only unknown extent from ``others``, the other side's extents, if all are known."""
    if extents.count(UNKNOWN) == 1 and UNKNOWN not in others:
        known = -math.prod(extents)
        if known > 0 and math.prod(others) % known == 0:
            extents[extents.index(UNKNOWN)] = math.prod(others) // known


def axis_count(rank: int, codes: Shape) -> int | None:
    """Return the number of axes of the target; None if the codes do not match the source."""
    position = count = at = 0
    while at < len(codes):
        code = codes[at]
        count += {-2: max(rank - position, 0), -4: 2}.get(code, 1)
        if code in (0, -3, -4) and position + (2 if code == -3 else 1) > rank:
            return None
        position = rank if code == -2 else position + (2 if code == -3 else 1)
        at += 3 if code == -4 else 1
    return count if at == len(codes) else None
