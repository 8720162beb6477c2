"""The parser process itself: its limits, those that it inherits, and its end."""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import resource
import socket
import subprocess
import sys

import pytest

from webstrata.errors import ParserError
from webstrata.flows.crawl.parse import ParseJob
from webstrata.flows.parsers.child import serve
from webstrata.flows.parsers.lanes import ParserLanes
from webstrata.flows.parsers.parser_pool import ParserPool
from webstrata.flows.parsers.tasks import run_task

JOB = ParseJob(url="http://a.test/", body=b"<p>words", content_type="text/html", max_decoded=1000)
UNDER_A_LIMIT = """
import asyncio, resource, sys
from tests.flows.parsers.test_child import JOB
from webstrata.errors import ParserError
from webstrata.flows.parsers.parser_pool import ParserPool

async def main():
    limit = int(sys.argv[1]) * 2**20
    pool = ParserPool(1)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        await pool.check()
        print((await pool.submit(JOB)).fingerprint.text is not None)
    except ParserError as problem:
        print(problem)
    finally:
        pool.close()

if __name__ == "__main__":
    asyncio.run(main())
"""


def output_under_a_limit(megabytes: int, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a program prints that parses a content with a hard limit of memory, which its processes inherit."""
    program = tmp_path_factory.mktemp("limited") / "program.py"
    program.write_text(UNDER_A_LIMIT)
    done = subprocess.run(
        [sys.executable, str(program), str(megabytes)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(["", *sys.path])[1:], "PATH": "/usr/bin:/bin"},
        check=False,
        timeout=200,
    )
    return done.stdout + done.stderr


def test_an_inherited_limit_is_not_raised(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A hard limit below the own one is adopted: the content is parsed."""
    assert output_under_a_limit(1300, tmp_path_factory) == "True\n"


def test_too_little_memory_is_said(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With too little memory the pool does not work, and says what is needed."""
    said = output_under_a_limit(400, tmp_path_factory)
    assert "ulimit" in said
    assert "crawl.workers=0" in said


def test_no_process_can_be_started() -> None:
    """If processes do not start, the contents are not to blame: an error of our own is raised, at once and later."""

    async def main() -> None:
        pool = ParserPool(1)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        one, other = socket.socketpair()
        resource.setrlimit(resource.RLIMIT_NOFILE, (one.fileno(), hard))
        one.close()
        other.close()
        try:
            with pytest.raises(ParserError, match="no parser process can be started"):
                await pool.submit(JOB)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert (await pool.submit(JOB)).fingerprint.text is not None
        pool.close()

    asyncio.run(main())


def test_a_process_that_is_ended_early_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """A process that is ended while it starts, or whose crawler ended before it was ready, prints no error."""
    lanes = ParserLanes(2, run_task)
    lanes.start(2)
    lanes.close()
    ours, theirs = socket.socketpair()
    spawn = multiprocessing.get_context("spawn")
    started = spawn.RawValue(ctypes.c_uint64)
    process = spawn.Process(target=serve, args=(theirs, run_task, 2**30, 2**20, started))
    process.start()
    theirs.close()
    ours.close()
    process.join()

    assert process.exitcode == 0
    assert capfd.readouterr().err == ""
