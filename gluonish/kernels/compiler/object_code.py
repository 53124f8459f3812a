"""Object files from LLVM IR: in this process, or in another one that runs this file as a program.

llvmlite runs one call at a time in a process, so that kernels compile in parallel only in several
processes (`gluonish.kernels.compiler.helper_process`). Such a process imports the standard library
and llvmlite, and nothing of this package. It ends when its standard input does.

A request is a text. A reply is a status, and an object file with the names of the functions that it
calls, or LLVM's message. Each is preceded by its size, and the size by nothing.
"""

import os
import signal
import struct
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any, BinaryIO, NamedTuple

_SIZE = struct.Struct("<I")
_MADE, _REFUSED = b"made", b"refused"


class Host(NamedTuple):
    """The processor that code is for: name and features, as LLVM spells them."""

    name: str
    features: str


class ObjectCode(NamedTuple):
    """An object file, and the names of the functions that it calls."""

    data: bytes
    called: Sequence[str]


@cache
def target_machine(host: Host) -> Any:
    """Return LLVM's object for a processor."""
    from llvmlite import binding

    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(
        cpu=host.name, features=host.features, opt=3, reloc="pic", codemodel="small"
    )


def generate(text: str, entry: str, host: Host) -> ObjectCode:
    """Optimize LLVM IR, and compile it to an object file.

    Args:
        text: The IR.
        entry: The only symbol that the file exports.
        host: The processor.

    Raises:
        RuntimeError: LLVM rejects the text.
    """
    from llvmlite import binding

    machine = target_machine(host)
    module = binding.parse_assembly(text)
    for symbol in (*module.functions, *module.global_variables):
        if not symbol.is_declaration and symbol.name != entry:
            symbol.linkage = "internal"
    module.verify()
    tuning = binding.create_pipeline_tuning_options(3)
    tuning.loop_vectorization = tuning.loop_interleaving = True
    builder = binding.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    called = [
        function.name
        for function in module.functions
        if function.is_declaration and not function.name.startswith("llvm.")
    ]
    return ObjectCode(bytes(machine.emit_object(module)), called)


def write_message(file: BinaryIO, *fields: bytes) -> None:
    """Write fields, each after its size."""
    file.write(b"".join(_SIZE.pack(len(field)) + field for field in fields))
    file.flush()


def read_field(file: BinaryIO, most: int = 1 << 31) -> bytes:
    """Read a field of at most a number of bytes.

    Raises:
        EOFError: The other process has ended, or something else has written to the file.
    """
    (nbytes,) = _SIZE.unpack(_read(file, _SIZE.size))
    if nbytes > most:
        raise EOFError
    return _read(file, nbytes)


def _read(file: BinaryIO, nbytes: int) -> bytes:
    data = file.read(nbytes)
    if len(data) < nbytes:
        raise EOFError
    return data


def request(to: BinaryIO, replies: BinaryIO, text: str, entry: str) -> ObjectCode:
    """Have another process generate code; arguments and errors of `generate`.

    Raises:
        OSError: The process has ended.
        EOFError: The same, or a library that is loaded into each process writes to its output.
        RuntimeError: LLVM rejects the text.
    """
    write_message(to, text.encode(), entry.encode())
    status = read_field(replies, max(map(len, (_MADE, _REFUSED))))
    if status not in (_MADE, _REFUSED):
        raise EOFError
    data, called = read_field(replies), read_field(replies)
    if status == _REFUSED:
        raise RuntimeError(data.decode(errors="replace"))
    return ObjectCode(data, called.decode().split())


def serve(requests: BinaryIO, replies: BinaryIO, host: Host) -> None:
    """Answer requests until there are no more."""
    while True:
        try:
            text, entry = read_field(requests).decode(), read_field(requests).decode()
        except EOFError:
            return
        try:
            made = generate(text, entry, host)
        except RuntimeError as error:
            write_message(replies, _REFUSED, str(error).encode(), b"")
        else:
            write_message(replies, _MADE, made.data, " ".join(made.called).encode())


def main(folder: str, name: str, features: str) -> None:
    """Serve the process that started this one.

    Args:
        folder: Where llvmlite is installed.
        name: The processor's name.
        features: Its features.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other process
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what LLVM prints is no reply
    sys.path.append(folder)
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    serve(sys.stdin.buffer, replies, Host(name, features))


if __name__ == "__main__":
    main(*sys.argv[1:])
