"""What the box holds of a machine whose tools are there, absent, refused, failing or hanging."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from db.vocabulary import RawKind
from runner.observe.black_box import BoxedService, BoxItem, BoxTools, fill_black_box
from runner.observe.notification import notify
from runner.observe.wedge_spans import OpenRequest

WAITING = OpenRequest("r1-s3-t0", waiting_s=12.0, quiet_s=11.0)


@pytest.fixture
def stuck() -> Iterator[int]:
    """The pid of a Python process that stands in a function called `waits_for_ever`."""
    program = "def waits_for_ever():\n print(flush=True); input()\nwaits_for_ever()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def _tool(folder: Path, name: str, script: str, *, mode: int = 0o755) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n", "ascii")
    program.chmod(mode)


async def _box(tools: BoxTools, pid: int | None = None) -> dict[str, BoxItem]:
    service = BoxedService("server", "http://server", find_process=lambda: pid)
    async with httpx.AsyncClient(
        transport=httpx.MockTransport(lambda request: httpx.Response(404))
    ) as http:
        items = await fill_black_box(
            [service], http=http, open_requests=[WAITING], redact=lambda x: x, tools=tools
        )
    return {item.kind: item for item in items}


async def test_the_stacks_and_the_gpus_are_what_the_tools_print(tmp_path: Path, stuck: int) -> None:
    _tool(tmp_path, "py-spy", 'echo "Thread of $4: waits_for_ever"')
    _tool(tmp_path, "nvidia-smi", 'echo "NVIDIA-SMI 590.1: GPU 0, 80 GB"')

    box = await _box(BoxTools(path=str(tmp_path)), stuck)

    stacks, gpu = box[RawKind.WEDGE_STACKS], box[RawKind.WEDGE_GPU]
    assert f"Thread of {stuck}: waits_for_ever".encode() in stacks.content
    assert b"thread" in stacks.content
    assert (stacks.said, gpu.said) == ("1 process", "nvidia-smi")
    assert gpu.content == b"NVIDIA-SMI 590.1: GPU 0, 80 GB\n"
    assert b'"r1-s3-t0"' in box[RawKind.WEDGE_IN_FLIGHT].content


async def test_tools_that_are_absent_are_said_to_be(tmp_path: Path, stuck: int) -> None:
    box = await _box(BoxTools(path=str(tmp_path)), stuck)

    assert box[RawKind.WEDGE_STACKS].said == "1 process; py-spy is not installed"
    assert box[RawKind.WEDGE_GPU].said == "nvidia-smi is not installed"
    assert box[RawKind.WEDGE_GPU].content == b""


async def test_a_service_without_a_process_of_ours_says_that_its_stacks_are_out_of_reach() -> None:
    stacks = (await _box(BoxTools(), None))[RawKind.WEDGE_STACKS]

    assert (stacks.said, stacks.content) == ("no process that we may look at", b"")


async def test_tools_that_are_refused_say_why(tmp_path: Path, stuck: int) -> None:
    _tool(tmp_path, "py-spy", 'echo "Error: Permission Denied: try with sudo" >&2; exit 1')
    _tool(tmp_path, "nvidia-smi", 'echo "couldn\'t communicate with the NVIDIA driver"; exit 9')

    box = await _box(BoxTools(path=str(tmp_path)), stuck)

    assert box[RawKind.WEDGE_STACKS].said == (
        "1 process; py-spy ended with 1: Error: Permission Denied: try with sudo"
    )
    assert box[RawKind.WEDGE_GPU].said == (
        "nvidia-smi ended with 9: couldn't communicate with the NVIDIA driver"
    )


async def test_tools_that_hang_are_given_up_and_what_they_said_is_kept(
    tmp_path: Path, stuck: int
) -> None:
    _tool(tmp_path, "py-spy", "echo half; sleep 600")
    _tool(tmp_path, "nvidia-smi", "sleep 600")

    box = await _box(BoxTools(path=f"{tmp_path}:{os.defpath}", deadline_s=1.0), stuck)

    assert box[RawKind.WEDGE_STACKS].said == "1 process; py-spy had not ended after 1 s"
    assert b"half" in box[RawKind.WEDGE_STACKS].content
    assert box[RawKind.WEDGE_GPU].said == "nvidia-smi had not ended after 1 s"


async def test_one_that_is_no_program_is_as_good_as_absent(tmp_path: Path) -> None:
    _tool(tmp_path, "nvidia-smi", "echo no", mode=0o644)

    box = await _box(BoxTools(path=str(tmp_path)))

    assert box[RawKind.WEDGE_GPU].said == "nvidia-smi is not installed"


@pytest.mark.skipif(shutil.which("py-spy") is None, reason="py-spy is not installed")
async def test_py_spy_itself_names_the_function_that_stands_still(stuck: int) -> None:
    box = await _box(BoxTools(), stuck)

    said = box[RawKind.WEDGE_STACKS].said
    assert b"waits_for_ever" in box[RawKind.WEDGE_STACKS].content or "ermission" in said


async def test_a_hook_hears_the_facts_and_the_event(tmp_path: Path) -> None:
    heard = tmp_path / "heard"

    trouble = await notify(
        ["sh", "-c", f'echo "$DECISIVE_EVENT" > {heard}; cat >> {heard}'], "wedge", {"arm": "a"}
    )

    assert trouble is None
    assert heard.read_text("utf-8") == 'wedge\n{"event": "wedge", "arm": "a"}\n'


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 4", "notify: sh ended with 4"),
        ("echo no route >&2; exit 1", "notify: sh ended with 1: no route"),
        ("sleep 600", "notify: sh had not ended after 1 s"),
        ("head -c 5000000 /dev/zero", None),
    ],
)
async def test_a_hook_that_fails_hangs_or_prints_much_is_one_sentence_at_most(
    script: str, said: str | None
) -> None:
    assert await notify(["sh", "-c", script], "wedge", {}, deadline_s=1.0) == said
