"""The living web as a process: its first line of output, the clock set through stdin, the exit."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.lab.livingweb.plain_client import connected
from webstrata.lab.livingweb.__main__ import main

COMMAND = (sys.executable, "-m", "webstrata.lab.livingweb", "--site", "country-codes")
SRC = Path(__file__).parents[3] / "src"


async def _start(*arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    return await asyncio.create_subprocess_exec(*COMMAND, *arguments, stdin=pipe, stdout=pipe, env=environment)


def test_clock_set_through_stdin() -> None:
    """Lines on stdin move a fixed clock and the pages with it; invalid lines do not; SIGTERM ends with exit code 0."""

    async def scenario() -> None:
        process = await _start("--clock", "fixed", "2023-01-01")
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            about = json.loads(await process.stdout.readline())
            assert about["pages"] == 5
            async with connected(about["hosts"]["country-codes.test"]) as client:
                before = (await client.get("country-codes.test", "/datapackage.json")).body
                process.stdin.write(b"2024-12-31\nnonsense\n")
                assert await process.stdout.readline() == b"at 2024-12-31T00:00:00Z\n"
                assert await process.stdout.readline() == b"at 2024-12-31T00:00:00Z\n"
                after = (await client.get("country-codes.test", "/datapackage.json")).body
                assert before != after
            process.send_signal(signal.SIGTERM)
            assert (await process.stdout.readline()).startswith(b"requests 2, politeness violations ")
            assert await process.wait() == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()

    asyncio.run(asyncio.wait_for(scenario(), 30))


@pytest.mark.parametrize(
    "arguments",
    [["--clock", "half"], ["--clock", "fixed", "noon"], ["--clock", "scaled", "2023", "x"], ["--port", "99999"]],
)
def test_bad_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Invalid arguments give a one-line message and the exit code of a usage error."""
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("living web: ")
