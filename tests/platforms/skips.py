"""A plugin of pytest, `-p tests.platforms.skips`: skips tests of what another system lacks."""

import os

import pytest

# Parts of node ids, and the reasons.
_EVERYWHERE = {
    "tests/kernels/onednn": "oneDNN",
    "tests/kvstore/distributed": "MPI's launcher",
    "tests/gluon/data/test_shared_memory.py": "/proc and memfd",
    "test_interrupts.py": "/proc",
    "fork": "fork",
}
_ON_WINDOWS = {
    "test_loader_ends.py": "signals and process groups",
    "tests/gluon/data/vision/test_datasets.py": "file:// URLs of this system",
    "tests/gluon/data/test_worker_process.py": "Unix sockets",
    "test_channel.py": "Unix sockets",
    "test_dropped_batches_give_their_memory": "Unix sockets",
    "test_dataset_that_cannot_be_sent": "Unix sockets",
    "test_what_is_no_ordinary_file_is_refused": "named pipes",
    "test_on_request_large_arrays_stay_in_the_file": "mapped files",
    "test_an_argument_decides_on_mapping": "mapped files",
    "test_memory_of_others_is_not_taken": "mapped files",
    "test_equal_seeds_give_equal_batches": "worker processes",
    "test_error_of_worker_init_fn_is_raised": "worker processes",
    "test_worker_init_fn_is_called": "worker processes",
    "test_workers_that_do_not_persist": "worker processes",
    # Threads draw from the generators of the program, in an order that is not the same twice.
    "test_a_pass_continues_with_the_same_batches": "worker processes",
    "test_workers_repeat_what_a_seed_gives": "worker processes",
    "test_the_state_after_a_pass_is_the_begin_of_the_next": "worker processes",
}


def pytest_configure(config: pytest.Config) -> None:
    """Ignore what DataLoader says where workers cannot be processes."""
    if os.environ["EMULATED_SYSTEM"] == "win32":
        ignored = "ignore:DataLoader. expected num_workers=[0-9]+ to be processes:UserWarning"
        config.addinivalue_line("filterwarnings", ignored)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests."""
    missing = {**_EVERYWHERE, **(_ON_WINDOWS if os.environ["EMULATED_SYSTEM"] == "win32" else {})}
    for item in items:
        for part, what in missing.items():
            if part in item.nodeid:
                item.add_marker(pytest.mark.skip(reason=f"needs {what}"))
