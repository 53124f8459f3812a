import json

from gluonish.profiler.events import Totals
from gluonish.profiler.tables import as_json, as_table

MS = 1_000_000
TOTALS = {
    ("dom", "tk"): Totals(2, 3 * MS, 1 * MS, 2 * MS, is_time=True),
    ("dom", "images"): Totals(4, 22, 1, 12, is_time=False),
    ("block", "net"): Totals(1, 5 * MS, 5 * MS, 5 * MS, is_time=True),
    ("block", "net:a_name_that_is_longer_than_its_column"): Totals(
        3, 6 * MS, MS, 3 * MS, is_time=True
    ),
}
# The layout is that of MXNet 1.9.1.
TABLE = """
Profile Statistics:
	Note the difference in units for different entries.
block
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
net:a_name_that_is_longer_than_its_column               3           6.0000           1.0000           3.0000           2.0000
net                                     1           5.0000           5.0000           5.0000           5.0000

dom
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
tk                                      2           3.0000           1.0000           2.0000           1.5000

dom,counter
=================
Name                          Total Count            Total        Min Value        Max Value        Avg Value
----                          -----------            -----        ---------        ---------        ---------
images                                  4          22.0000           1.0000          12.0000           5.5000

"""  # noqa: E501  # the table is as wide as that


def order(sort_by: str, ascending: bool) -> list[str]:
    text = as_table(TOTALS, sort_by, ascending)
    return [line.split()[0] for line in text.splitlines() if line.startswith("net")]


def test_the_table_has_a_section_for_each_category() -> None:
    assert as_table(TOTALS, "total", False) == TABLE


def test_rows_are_sorted_as_told() -> None:
    long = "net:a_name_that_is_longer_than_its_column"
    assert order("total", False) == [long, "net"]
    assert order("total", True) == ["net", long]
    assert order("avg", False) == ["net", long]
    assert order("count", False) == [long, "net"]
    assert order("min", True) == [long, "net"]
    assert order("max", True) == [long, "net"]


def test_json_has_the_same_numbers() -> None:
    found = json.loads(as_json(TOTALS, "total", False))
    assert found["Time"]["dom"]["tk"] == {"Count": 2, "Total": 3, "Min": 1, "Max": 2, "Avg": 1.5}
    assert found["Counter"]["dom,counter"]["images"]["Avg"] == 5.5
    assert found["Unit"] == {"Time": "ms", "Memory": "kB", "Counter": "1"}
    assert list(found["Time"]["block"])[1] == "net"


def test_no_totals_give_the_heading_only() -> None:
    assert as_table({}, "total", False).splitlines()[1] == "Profile Statistics:"
    assert json.loads(as_json({}, "total", False))["Time"] == {}


def test_memory_is_printed_as_mxnet_does() -> None:
    # Copied from what MXNet 1.9.1 printed, but for the average: its own is (most - least) / 2.
    printed = [
        "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    "
        "Avg Use  (kB)",
        "----                          -----------    -------------    -------------    "
        "-------------",
        "Memory: cpu/0                          61           0.0320          80.4160          "
        "40.1920",
    ]
    found = {("Device Storage", "Memory: cpu/0"): Totals(61, 61 * 40192, 32, 80416, is_time=False)}
    lines = as_table(found, "total", False).splitlines()
    assert lines[3:8] == ["Device Storage", "=================", *printed]
    numbers = json.loads(as_json(found, "total", False))["Memory"]["Device Storage"]
    assert numbers == {"Memory: cpu/0": {"Count": 61, "Min": 0.032, "Max": 80.416, "Avg": 40.192}}
