"""Row: one thing to find out, with a time limit of its own; and how rows tell what they found.

The body of a row is a function of a `Place` and a `Note`. As a generator it prepares up to its
``yield``, beside other rows, and measures after it, alone on the device; as a plain function it
only measures.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

NOT_ON_DOUBLE = "not on the double"


class State:
    """How a row ended."""

    OK = "ok"
    FAILED = "failed"
    REFUSED = "refused"
    NOT_RUN = "not run"


class Refused(Exception):
    """What a row is about does not exist here; the message says what and why."""


class NotOnDouble(Refused):
    """Only a real device has this; in a rehearsal that is no failure."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{NOT_ON_DOUBLE}: {what}")


class Note(Protocol):
    """Tells one value as soon as it is known, so that it stays if the row fails later."""

    def __call__(self, what: str, value: Any, unit: str = "", **more: Any) -> None:
        """Tell a value.

        Args:
            what: Its name: ``ours``, a peer's name, or what was counted.
            value: A number, or a short text.
            unit: ``ms``, ``MB`` ..; none for a text or a count.
            more: Figures beside it, such as ``ratio``, ours through the peer's or the reverse.
        """


Body = Callable[[Any, Note], Iterator[None] | None]


@dataclass(frozen=True)
class Row:
    """One row of a stage.

    Attributes:
        name: In the tables.
        body: What finds it out.
        limit_s: Seconds that preparing may take, and that measuring may take.
        environment: Variables of a process that runs this row only.
        fresh: Whether a new process runs it, and nothing after it.
        alone: Whether no other row is prepared while this one is prepared and runs.
    """

    name: str
    body: Body
    limit_s: float
    environment: Mapping[str, str] = field(default_factory=dict)
    fresh: bool = False
    alone: bool = False


class Table:
    """The rows of a stage, in order of value."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, name: str, limit_s: float, body: Body, **how: Any) -> None:
        """Add a row; ``how`` are the other attributes of `Row`."""
        self.rows.append(Row(name, body, limit_s, **how))

    def row(self, name: str, limit_s: float = 30, **how: Any) -> Callable[[Body], Body]:
        """Add the decorated function as a row."""

        def keep(body: Body) -> Body:
            self.add(name, limit_s, body, **how)
            return body

        return keep
