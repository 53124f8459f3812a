"""Machine code of the kernels, against the ceilings of ``instructions.json``."""

import json
from typing import Any

import pytest

from tests.kernels.cupy import nvrtc
from tests.kernels.cupy.sass import ARCHITECTURES, TABLE, Case, Count, measure, measured, parse
from tests.kernels.cupy.sass_cases import cases, plain_names

CASES = cases()
FAMILIES = sorted({":".join(case.key.split(":")[:1] + case.key.split(":")[2:3]) for case in CASES})
AT_MOST = ("registers", "spills", "per_element")
AT_LEAST = ("load_bits", "store_bits")


def table() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def family(case: Case) -> str:
    file, _, dtype, *_ = case.key.split(":")
    return f"{file}:{dtype}"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("chosen", FAMILIES)
def test_kernels_need_no_more_than_the_table_says(chosen: str, architecture: str) -> None:
    if chosen.split(":")[1] not in ARCHITECTURES[architecture]:
        pytest.skip(f"{architecture} is looked at in other dtypes")
    ceilings = table()
    if nvrtc.version() != ceilings["nvrtc"]:
        pytest.skip(f"the table is NVRTC {ceilings['nvrtc']}'s, this is {nvrtc.version()}")
    wrong = []
    for key, found in measured([case for case in CASES if family(case) == chosen], architecture):
        wanted = ceilings["kernels"][key][architecture]
        assert found.keys() == wanted.keys(), key
        wrong += [
            f"{key} on {architecture}: {name} {found[name]}, the table has {wanted[name]}"
            for name in found
            if (name in AT_MOST and found[name] > wanted[name])
            or (name in AT_LEAST and found[name] < wanted[name])
        ]
    assert not wrong, "\n".join([*wrong, "python -m tests.kernels.cupy.sass --write, if meant"])


def test_the_table_has_every_case_and_no_other() -> None:
    kernels = table()["kernels"]
    assert list(kernels) == [case.key for case in CASES]
    for key, figures in kernels.items():
        dtype = key.split(":")[2]
        assert list(figures) == [name for name, dtypes in ARCHITECTURES.items() if dtype in dtypes]


def test_plain_names_are_those_of_the_table() -> None:
    found = table()
    assert found["per_element"] == plain_names(found["kernels"])


def test_nothing_spills() -> None:
    spilled = [
        key
        for key, figures in table()["kernels"].items()
        if any(each["spills"] for each in figures.values())
    ]
    assert not spilled


# As nvdisasm -g writes it: a loop of two elements of 16 bits, one of one, and a branch forward.
_TEXT = """
	.section	.nv.info,"",@"SHT_CUDA_INFO"
	//----- nvinfo : EIATTR_REGCOUNT
        /*0000*/ 	.byte	0x04, 0x2f
        /*0004*/ 	.word	index@(scale)
        /*0008*/ 	.word	0x0000001a
	.section	.text.scale,"ax",@progbits
.text.scale:
	//## File "/tmp/source.cu", line 3
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/               @P0 BRA `(.L_x_2) ;
.L_x_1:
	//## File "/tmp/source.cu", line 5
        /*0020*/                   LDG.E.LTC128B R2, desc[UR6][R2.64] ;
        /*0030*/                   FMUL.FTZ R2, R2, R4 ;
	//## File "/tmp/source.cu", line 4
        /*0040*/                   STG.E desc[UR6][R6.64], R2 ;
        /*0050*/              @!P0 BRA `(.L_x_1) ;
.L_x_2:
        /*0060*/                   LDG.E.U16 R2, desc[UR6][R2.64] ;
        /*0070*/                   STL [R1], R2 ;
        /*0080*/                   STG.E.U16 desc[UR6][R6.64], R2 ;
        /*0090*/              @!P0 BRA P1, `(.L_x_2) ;
        /*00a0*/                   EXIT ;
.L_x_3:
        /*00b0*/                   BRA `(.L_x_3);
        /*00c0*/                   NOP;
"""


def test_the_text_of_nvdisasm_is_read() -> None:
    (kernel,) = parse(_TEXT).values()
    assert kernel.loops() == [range(2, 6), range(6, 10)]
    wanted = {"registers": 26, "spills": 1, "load_bits": 32, "store_bits": 32, "per_element": 2.0}
    assert measure(kernel, [Count("STG", 2)]) == wanted
    assert measure(kernel, [Count("LDG", 4)])["per_element"] == 4.0


def test_a_kernel_without_a_loop_is_one_pass() -> None:
    text = _TEXT.replace("BRA `(.L_x_1)", "NOP").replace("BRA P1, `(.L_x_2)", "NOP")
    (kernel,) = parse(text).values()
    assert measure(kernel, [Count("STG", 2)])["per_element"] == round(10 / 3, 1)
