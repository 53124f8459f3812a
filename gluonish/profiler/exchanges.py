"""Recording of communication between ranks and of servers: arrays, bytes, waits and transfers."""

from collections.abc import Callable

from gluonish.kvstore.distributed.observers import Exchange, observers
from gluonish.profiler import ranks
from gluonish.profiler.recorder import from_counter, recorder

# Categories of events.
EXCHANGE = "communication"
PHASE = "part of communication"  # waiting for ranks, or transfer
SERVER = "kvstore server"  # work of a server
_MOST_NAMES = 20  # of arrays in an event


def observe_exchanges() -> Callable[[], None]:
    """Start recording communication between ranks; return a function that stops it."""
    ranks.announce()
    observers.append(_record)

    def end() -> None:
        observers.remove(_record)

    return end


def _record(exchange: Exchange) -> None:
    if not recorder.active:
        return
    ranks.announce()
    start_ns, ready_ns, stop_ns = map(from_counter, exchange[-3:])
    names = list(exchange.names[:_MOST_NAMES])
    if more := len(exchange.names) - len(names):
        names.append(f"and {more} more")
    details = {"keys": names, "bytes": exchange.nbytes}
    if exchange.kind == "answer":
        recorder.span(SERVER, exchange.what, start_ns, stop_ns, details)
        return
    if exchange.kind == "exchange":
        waiting, transfer = (ready_ns - start_ns) / 1000, (stop_ns - ready_ns) / 1000
        details |= {"waiting_us": waiting, "transfer_us": transfer}
        recorder.span(PHASE, "waiting for ranks", start_ns, ready_ns)
        recorder.span(PHASE, "transfer", ready_ns, stop_ns)
    recorder.span(EXCHANGE, exchange.what, start_ns, stop_ns, details)
