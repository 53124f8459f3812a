"""Signals: records terminating signals until the launcher forwards them to the ranks."""

import signal
from typing import Any

_OF_TERMINALS = (signal.SIGINT, signal.SIGQUIT)
_TERMINATING = (*_OF_TERMINALS, signal.SIGTERM, signal.SIGHUP)


def restore_terminal_signals() -> None:
    """Reset the signals of Ctrl-C and Ctrl-\\ to their defaults in a new process."""
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_DFL)


class Signals:
    """Scope in which terminating signals are counted.

    Ignored signals stay ignored, as `nohup` ignores SIGHUP; except those of terminals, as shells
    make background processes ignore them, but ``kill -INT`` must still work.

    Attributes:
        first: Number of the first signal; 0 if there was none.
        count: Number of signals.
    """

    def __init__(self) -> None:
        self.first = self.count = 0
        self._before: dict[int, Any] = {}

    def _note(self, number: int, _: Any) -> None:
        self.first = self.first or number
        self.count += 1

    def __enter__(self) -> "Signals":
        for number in _TERMINATING:
            ignored = signal.getsignal(number) is signal.SIG_IGN
            if not ignored or number in _OF_TERMINALS:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *exc_info: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
