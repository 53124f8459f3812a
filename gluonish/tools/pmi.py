"""PMI: how the ranks of a job on one host find each other through MPICH's library.

MPICH's own launcher, Hydra, listens on a TCP port of all addresses for that. Here each rank has a
pair of connected sockets instead, which nobody else can reach. The protocol is PMI 1.1: lines of
``name=value``, of which the answers depend on what all ranks have put.
"""

import secrets
import socket
from collections.abc import Callable

__all__ = ["PMI"]

_KEY_SIZE, _VALUE_SIZE = 64, 1024  # MPICH cuts what it puts to fit


class PMI:
    """Answers the ranks of a job.

    Args:
        size: Number of ranks.

    Attributes:
        joined: Ranks that have started MPI.
        left: Those of them that have ended it.
        aborted: Exit status by which a rank ended the job; None if none did.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._name = f"job_{secrets.token_hex(8)}"  # MPICH names shared memory by it
        self._pairs = [socket.socketpair() for _ in range(size)]
        self._incomplete = [b""] * size
        # All ranks are on one host: they share memory, and open no ports.
        self._values = {"PMI_process_mapping": f"(vector,(0,1,{size}))"}
        self._waiting: set[int] = set()
        self.joined: set[int] = set()
        self.left: set[int] = set()
        self.aborted: int | None = None

    def variables(self, rank: int) -> dict[str, str]:
        """Return what a rank needs to know in its environment."""
        return {
            "PMI_FD": str(self.descriptor(rank)),
            "PMI_RANK": str(rank),
            "PMI_SIZE": str(self._size),
            "MPI_LOCALRANKID": str(rank),
            "MPI_LOCALNRANKS": str(self._size),
        }

    def descriptor(self, rank: int) -> int:
        """Return the descriptor that a rank inherits."""
        return self._pairs[rank][1].fileno()

    def started(self, rank: int) -> socket.socket:
        """Return the socket on which a rank, which has been started, sends its requests."""
        ours, theirs = self._pairs[rank]
        theirs.close()
        return ours

    def receive(self, rank: int) -> bool:
        """Answer the requests of a rank; False once its socket is closed."""
        ours = self._pairs[rank][0]
        try:
            data = ours.recv(1 << 16)
        except OSError:  # it was killed with an answer unread
            return False
        *lines, self._incomplete[rank] = (self._incomplete[rank] + data).split(b"\n")
        for line in lines:
            words = dict(word.split("=", 1) for word in line.decode().split() if "=" in word)
            self._answer(rank, words)
        return bool(data)

    def close(self) -> None:
        """Close all sockets."""
        for pair in self._pairs:
            for each in pair:
                each.close()

    def _send(self, rank: int, text: str) -> None:
        try:
            self._pairs[rank][0].sendall(f"{text}\n".encode())
        except OSError:  # it has ended
            return

    def _answer(self, rank: int, words: dict[str, str]) -> None:
        answers: dict[str, Callable[[], str]] = {
            "init": lambda: "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
            "get_maxes": lambda: (
                f"cmd=maxes rc=0 kvsname_max=256 keylen_max={_KEY_SIZE} vallen_max={_VALUE_SIZE}"
            ),
            "get_appnum": lambda: "cmd=appnum rc=0 appnum=0",
            "get_my_kvsname": lambda: f"cmd=my_kvsname rc=0 kvsname={self._name}",
            "get_universe_size": lambda: f"cmd=universe_size rc=0 size={self._size}",
            "put": lambda: self._put(words),
            "get": lambda: self._get(words),
            "barrier_in": lambda: self._barrier(rank),
            "finalize": lambda: "cmd=finalize_ack rc=0",
            "abort": lambda: self._abort(words),
        }
        command = words.get("cmd", "")
        if command == "init":
            self.joined.add(rank)
        if command == "finalize":
            self.left.add(rank)
        known = answers.get(command)
        text = known() if known else f"cmd={command}_result rc=-1 msg=not_supported"
        if text:
            self._send(rank, text)

    def _put(self, words: dict[str, str]) -> str:
        self._values[words.get("key", "")] = words.get("value", "")
        return "cmd=put_result rc=0 msg=success"

    def _get(self, words: dict[str, str]) -> str:
        value = self._values.get(words.get("key", ""))
        if value is None:
            return "cmd=get_result rc=-1 msg=key_not_found value=unknown"
        return f"cmd=get_result rc=0 msg=success value={value}"

    def _barrier(self, rank: int) -> str:
        self._waiting.add(rank)
        if len(self._waiting) == self._size:
            for each in sorted(self._waiting):
                self._send(each, "cmd=barrier_out rc=0")
            self._waiting.clear()
        return ""

    def _abort(self, words: dict[str, str]) -> str:
        status = words.get("exitcode", "1")
        self.aborted = int(status) if status.lstrip("-").isdigit() else 1
        return ""
