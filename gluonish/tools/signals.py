"""Signals: those that ask the launcher to end, recorded until it forwards them to the ranks."""

import signal
from typing import Any

_OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT)
_ASK_TO_END = (*_OF_TERMINALS, signal.SIGTERM, signal.SIGHUP)


def restore_terminal_signals() -> None:
    """Reset the signals of Ctrl-C and Ctrl-\\ to their defaults in a new process."""
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_DFL)


class Signals:
    """Scope in which signals are counted.

    One that is ignored stays so, as `nohup` has it for SIGHUP; except those of terminals, which
    shells have all ignore that they start in the background: ``kill -INT`` means it.

    Attributes:
        first: Number of the first signal; 0 if there was none.
        count: How many there were.
    """

    def __init__(self) -> None:
        self.first = self.count = 0
        self._before: dict[int, Any] = {}

    def _note(self, number: int, _: Any) -> None:
        self.first = self.first or number
        self.count += 1

    def __enter__(self) -> "Signals":
        for number in _ASK_TO_END:
            ignored = signal.getsignal(number) is signal.SIG_IGN
            if not ignored or number in _OF_TERMINALS:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *exc_info: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
