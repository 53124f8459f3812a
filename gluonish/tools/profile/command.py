"""The subcommand ``profile``: runs the script, and writes the trace and the page."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from gluonish.core.errors import ArgumentError
from gluonish.core.files import atomic_write
from gluonish.core.loading import load
from gluonish.kvstore.distributed.world import joined
from gluonish.mxnet_names.script import check_script, run_script
from gluonish.tools.json_output import add_json_option, stdout_to_stderr, write_json
from gluonish.tools.profile.advice import advice
from gluonish.tools.profile.modelled import run_modelled
from gluonish.tools.profile.page import bytes_text, page, share_text, time_text
from gluonish.tools.profile.summary import Summary, summarize
from gluonish.tools.profile.trace import read_trace
from gluonish.tools.table import cut, terminal_width, wrapped

_SHOWN = 10


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``profile`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "profile",
        help="run a script under the profiler; write its trace and a page that explains it",
        description="Run a Python script as its own program, with every operator, Block, API call "
        "and array recorded. Writes NAME.json, a trace that Perfetto and chrome://tracing open, "
        "and NAME.html, a page that any browser opens without a network. Exits as the script does.",
    )
    parser.add_argument(
        "--output",
        default="profile",
        metavar="NAME",
        help="where to write: a path without its ending (default: %(default)s)",
    )
    parser.add_argument(
        "--model",
        metavar="DEVICE",
        help="run on no GPU: model the time, traffic and memory of gpu(0) on a device, such as "
        "h200, by its measured rates; kernels compute nothing and results are zeros. Also writes "
        "NAME.model.json. Needs a checkout of the repository",
    )
    add_json_option(parser)
    parser.add_argument(
        "script", metavar="SCRIPT", help="the script; options of this command stand before it"
    )
    parser.add_argument(
        "arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER, help="the script's own arguments"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Profile the script, write both files, and return the script's exit status.

    Raises:
        MissingFileError: The script does not exist.
        FileFormatError: The script is not a Python program.
        ArgumentError: The output folder does not exist, or there is no model of the device.
        NotSupportedError: A model was asked for, and this is no checkout.
    """
    check_script("profile", arguments.script, folders=False)
    # The script may change the working directory.
    output = Path(arguments.output).absolute()
    if not output.parent.is_dir():
        raise ArgumentError(f"--output: expected an existing folder, got {str(output.parent)!r}")
    if arguments.model is not None:
        with stdout_to_stderr(arguments.json):
            status, found = run_modelled(
                arguments.model, arguments.script, arguments.arguments, output
            )
        if arguments.json:
            write_json(found)
        return status
    trace_path, page_path = (output.with_name(output.name + end) for end in (".json", ".html"))
    profiler = load("gluonish.profiler.state")  # importing it adds hooks to much of the package
    settings = {"profile_all": True, "filename": str(trace_path), "continuous_dump": False}
    profiler.set_config(**settings)
    profiler.set_state("run")
    with stdout_to_stderr(arguments.json):
        status = run_script(arguments.script, arguments.arguments)
    profiler.set_state("stop")
    profiler.set_config(**settings)  # the script may have set another file name
    if status:  # other ranks may have ended
        profiler.dump_alone()
    else:
        load("gluonish.profiler.ranks").wait_for_end_of_profile()
        profiler.dump()
    world = joined()
    if world is not None and world.rank > 0:
        return status  # rank 0 has the traces of all ranks
    trace = read_trace(trace_path)
    summary = summarize(trace)
    sentences = advice(trace, summary)
    with atomic_write(page_path) as file:
        file.write(page(os.path.basename(arguments.script), trace, summary, sentences).encode())
    sys.stdout.flush()
    if arguments.json:
        write_json(_facts(summary, sentences, status, [trace_path, page_path]))
        return status
    _print_summary(summary, sentences)
    print(f"\ntrace: {trace_path}\npage:  {page_path}", file=sys.stderr)
    return status


def _facts(
    summary: Summary, sentences: list[str], status: int, files: list[Path]
) -> dict[str, Any]:
    """Return the summary for ``--json``; times are in microseconds."""
    kept = ("name", "busy_us", "peak_nbytes")
    return {
        "status": status,
        **summary._asdict(),
        "devices": [{key: getattr(device, key) for key in kept} for device in summary.devices],
        "advice": sentences,
        "files": files,
    }


def _print_summary(summary: Summary, sentences: list[str]) -> None:
    """Print the summary on standard error, since the script uses standard output."""
    runs = sum(operator.runs for operator in summary.operators)
    total, operator_time = time_text(summary.duration_us), time_text(summary.operator_us)
    lines = ["", f"{runs:,} operators took {operator_time} in {total}", ""]
    width = terminal_width(sys.stderr)
    for operator in summary.operators[:_SHOWN]:
        lines.append(
            f"{share_text(operator.share):>7}  {time_text(operator.total_us):>8}  "
            f"{operator.runs:>8,} x {time_text(operator.mean_us):<8}  "
            f"{operator.name if width is None else cut(operator.name, max(12, width - 40))}"
        )
    for device in summary.devices:
        share = device.busy_us / summary.duration_us if summary.duration_us else 0.0
        line = f"{device.name} was busy for {share_text(share)} of the time"
        if device.peak_nbytes is not None:
            line += f" and used at most {bytes_text(device.peak_nbytes)}"
        lines += ["", line]
    for found in summary.communication:
        waiting, transfer = (
            share_text(us / summary.duration_us) for us in (found.waiting_us, found.transfer_us)
        )
        lines += [
            "",
            f"rank {found.rank} sent {bytes_text(found.nbytes)} in {found.exchanges:,} exchanges: "
            f"{waiting} of the time waiting for other ranks, {transfer} in transfer, "
            f"{share_text(found.hidden)} of that while devices compute",
        ]
    lines += ["", *(f"- {sentence}" for sentence in sentences)] if sentences else []
    print("\n".join(wrapped(line, width, "  ") for line in lines), file=sys.stderr)
