"""What ranks do together, and ask of servers, as events: with arrays, bytes, and waiting apart."""

from collections.abc import Callable

from gluonish.kvstore.distributed.observers import Exchange, watchers
from gluonish.profiler import ranks
from gluonish.profiler.recorder import from_counter, recorder

EXCHANGE = "communication"  # the categories of events: as a whole,
PART = "part of communication"  # waiting for ranks or transfer,
ANSWER = "kvstore server"  # and what a server does
_MOST_NAMES = 20  # of arrays in an event


def observe_exchanges() -> Callable[[], None]:
    """Start recording communication between ranks; return a function that stops it."""
    ranks.note()
    watchers.append(_keep)

    def end() -> None:
        watchers.remove(_keep)

    return end


def _keep(exchange: Exchange) -> None:
    if not recorder.active:
        return
    ranks.note()
    start_ns, met_ns, stop_ns = map(from_counter, exchange[-3:])
    names = list(exchange.names[:_MOST_NAMES])
    if more := len(exchange.names) - len(names):
        names.append(f"and {more} more")
    details = {"keys": names, "bytes": exchange.nbytes}
    if exchange.kind == "answer":
        recorder.span(ANSWER, exchange.what, start_ns, stop_ns, details)
        return
    if exchange.kind == "exchange":
        waiting, transfer = (met_ns - start_ns) / 1000, (stop_ns - met_ns) / 1000
        details |= {"waiting_us": waiting, "transfer_us": transfer}
        recorder.span(PART, "waiting for ranks", start_ns, met_ns)
        recorder.span(PART, "transfer", met_ns, stop_ns)
    recorder.span(EXCHANGE, exchange.what, start_ns, stop_ns, details)
