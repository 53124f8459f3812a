"""How long `os.fork` takes beside a thread that pushes cheap operators on and on, in milliseconds.

    python benchmarks/forks.py [--forks 20]

Shape and dtype play no part; one lane, one worker. Prints the least, median and most.
"""

import argparse
import os
import statistics
import threading
import time
import warnings

from gluonish_engine import Var, create_engine

LANE = ("cpu", 0, "compute")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--forks", type=int, default=20, help="how many forks are measured")
    forks = parser.parse_args().forks
    warnings.simplefilter("ignore", DeprecationWarning)  # 3.12 warns of any fork with threads
    engine, var, stop = create_engine("ThreadedEnginePerDevice"), Var(), threading.Event()

    def push() -> None:
        while not stop.is_set():
            engine.push(lambda: None, (), (var,), LANE)

    thread = threading.Thread(target=push, daemon=True)
    thread.start()
    time.sleep(0.2)
    times = []
    for _ in range(forks):
        start = time.perf_counter()
        child = os.fork()
        if not child:
            os._exit(0)
        times.append((time.perf_counter() - start) * 1000)
        os.waitpid(child, 0)
    stop.set()
    thread.join()
    engine.wait_all()
    print(f"{min(times):.1f} {statistics.median(times):.1f} {max(times):.1f} ms")


if __name__ == "__main__":
    main()
