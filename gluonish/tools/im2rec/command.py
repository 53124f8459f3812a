"""The command line of ``gluonish im2rec``, as of MXNet's ``tools/im2rec.py``."""

import argparse
import sys

from gluonish.tools.im2rec.listing import EXTENSIONS, make_lists
from gluonish.tools.im2rec.records import COLORS, ENCODINGS, Packing, find_lists, make_records
from gluonish.tools.json_output import add_json_option, write_json


def add_parser(parsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``im2rec`` to the subcommands of ``gluonish``."""
    parser = parsers.add_parser(
        "im2rec",
        help="make lists of images, and record files of the images on lists",
        description="With --list, write PREFIX.lst, a list of the images in ROOT. Without, write "
        "PREFIX.rec and PREFIX.idx, the images on the lists PREFIX*.lst, in their order. Images "
        "that cannot be read are reported and skipped; the exit status is then 1.",
    )
    parser.add_argument("prefix", help="prefix of the lists and record files")
    parser.add_argument("root", help="folder of the images")
    _add_list_options(parser.add_argument_group("options for lists"))
    _add_record_options(parser.add_argument_group("options for record files"))
    add_json_option(parser)
    parser.set_defaults(run=run)


def _add_list_options(group: "argparse._ArgumentGroup") -> None:
    group.add_argument("--list", action="store_true", help="write lists instead of record files")
    group.add_argument(
        "--exts",
        nargs="+",
        default=list(EXTENSIONS),
        metavar="EXT",
        help=f"file extensions of images, in lower case (default: {' '.join(EXTENSIONS)})",
    )
    group.add_argument(
        "--chunks", type=int, default=1, metavar="N", help="number of lists (default: %(default)s)"
    )
    group.add_argument(
        "--train-ratio",
        type=float,
        default=1.0,
        metavar="R",
        help="fraction of the images for training (default: %(default)g)",
    )
    group.add_argument(
        "--test-ratio",
        type=float,
        default=0.0,
        metavar="R",
        help="fraction of the images for testing (default: %(default)g)",
    )
    group.add_argument(
        "--recursive",
        action="store_true",
        help="search subfolders; each folder with images gets its own label",
    )
    group.add_argument(
        "--no-shuffle",
        dest="shuffle",
        action="store_false",
        help="keep the alphabetical order; else the order is random with a fixed seed",
    )


def _add_record_options(group: "argparse._ArgumentGroup") -> None:
    packing = Packing()
    group.add_argument(
        "--pass-through", action="store_true", help="store the image files unchanged"
    )
    group.add_argument(
        "--resize",
        type=int,
        default=packing.resize,
        metavar="N",
        help="new length of the shorter side, in pixels; 0, the default, keeps the size",
    )
    group.add_argument(
        "--center-crop", action="store_true", help="crop the square in the center first"
    )
    group.add_argument(
        "--quality",
        type=int,
        default=packing.quality,
        metavar="N",
        help="JPEG quality, 1 to 100; for PNG the compression level, 1 to 9 (default: %(default)s)",
    )
    group.add_argument(
        "--num-thread",
        type=int,
        default=1,
        metavar="N",
        help="threads that read and encode; the order of records does not depend on it (default: "
        "%(default)s)",
    )
    group.add_argument(
        "--color",
        type=int,
        default=packing.color,
        choices=COLORS,
        help="1 for three channels, 0 for gray, -1 for the channels of the file (default: "
        "%(default)s)",
    )
    group.add_argument(
        "--encoding",
        default=packing.encoding,
        choices=ENCODINGS,
        help="format of the stored images (default: %(default)s)",
    )
    group.add_argument(
        "--pack-label",
        action="store_true",
        help="store all labels of an image in its record, not only the first",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the lists or the record files; return 1 if an image was skipped, else 0."""
    if arguments.list:
        written = make_lists(
            arguments.prefix,
            arguments.root,
            recursive=arguments.recursive,
            exts=arguments.exts,
            shuffle=arguments.shuffle,
            chunks=arguments.chunks,
            train_ratio=arguments.train_ratio,
            test_ratio=arguments.test_ratio,
            note=_tell if arguments.json else print,
        )
        if arguments.json:
            write_json({"lists": written})
        return 0
    packing = Packing(*(getattr(arguments, name) for name in Packing._fields))
    skipped = 0
    outcomes = []
    for image_list in find_lists(arguments.prefix):
        outcome = make_records(
            image_list, arguments.root, packing, num_thread=arguments.num_thread, refused=_tell
        )
        skipped += outcome.skipped
        outcomes.append(
            {"file": outcome.path, "records": outcome.records, "left_out": outcome.skipped}
        )
        if not arguments.json:
            print(f"{outcome.path}: {outcome.records} records, {outcome.skipped} left out")
    if arguments.json:
        write_json({"files": outcomes})
    return 1 if skipped else 0


def _tell(message: str) -> None:
    """Print a line on standard error, above the progress bar."""
    from tqdm import tqdm

    tqdm.write(message, file=sys.stderr)
