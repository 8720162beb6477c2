"""The standard streams of a command: everything that is written to stdout arrives, or the command fails.

`take_over` replaces `sys.stdout` and `sys.stderr` before the command starts, so that `typer.echo`, `print`, `rich` and
`webstrata.cli.output.write_bytes` all write through `CompleteStream`. Python's own streams lose output: with
PYTHONUNBUFFERED=1 a write to a pipe may be short, and the rest is dropped without an error; on a pipe with O_NONBLOCK,
which a parent process may have set, a write fails as soon as the pipe is full. `finish` writes what is still buffered,
and decides the exit code.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

READER_LEFT = 141
"""Exit code if the reader of stdout closed the pipe: that of a program ended by SIGPIPE, as `cat` and `git` are."""

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended."""

_BUFFER_SIZE = 65_536


class CompleteStream(io.RawIOBase):
    """A file descriptor to which a write is complete, or raises OSError; after an error, every write raises it."""

    def __init__(self, descriptor: int, *, may_fail: bool) -> None:
        self._descriptor = descriptor
        self._may_fail = may_fail
        """Errors are not raised, and what cannot be written is discarded: messages must not end the command."""
        self.problem: OSError | None = None
        """The first error. That of stdout decides the exit code, even if the command did not notice it."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return self._descriptor >= 0 and os.isatty(self._descriptor)

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all bytes; wait while a non-blocking pipe is full."""
        with memoryview(data).cast("B") as view:
            if self.problem is None:
                self._write_all(view)
            if self.problem is not None and not self._may_fail:
                raise self.problem
            return len(view)

    def abandon(self) -> None:
        """Discard what is still buffered: what the interpreter flushes when it ends must not fail again."""
        self._may_fail = True

    def _write_all(self, view: memoryview) -> None:
        written = 0
        try:
            while written < len(view):
                try:
                    written += os.write(self._descriptor, view[written:])
                except BlockingIOError:
                    _wait_until_writable(self._descriptor)
        except OSError as problem:
            self.problem = problem
        except KeyboardInterrupt:  # Ctrl-C while a reader does not read: the rest would block again
            self.problem = InterruptedError(errno.EINTR, "interrupted")
            self.abandon()
            raise


def _wait_until_writable(descriptor: int) -> None:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLOUT)
    waiting.poll()


def take_over() -> None:
    """Replace the standard streams of this process; streams that a caller has put in their place stay."""
    if None in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        _occupy_closed_descriptors()
    if sys.stdout is sys.__stdout__:
        sys.stdout = _text_stream(sys.stdout, is_stderr=False)
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text_stream(sys.stderr, is_stderr=True)


def _occupy_closed_descriptors() -> None:
    """Open /dev/null on closed standard descriptors: else the next file, such as the database, would get one of them."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)


def _text_stream(old: TextIO | None, *, is_stderr: bool) -> TextIO:
    """A text stream like `old`, which is None if the process was started with the descriptor closed (`>&-`).

    A character that the encoding does not have is written as an escape: it must not end the command.
    """
    raw = CompleteStream(-1 if old is None else old.fileno(), may_fail=is_stderr)
    return io.TextIOWrapper(
        io.BufferedWriter(raw, _BUFFER_SIZE),
        encoding="utf-8" if old is None else old.encoding,
        errors="backslashreplace",
        newline="\n",
        line_buffering=is_stderr or raw.isatty(),
    )


def say(message: str) -> None:
    """Write a line to stderr."""
    print(message, file=sys.stderr, flush=True)


def stdout_failed() -> bool:
    """Whether a write to stdout has failed: `finish` reports that, and errors that follow from it need no message."""
    stream = _complete(sys.stdout)
    return stream is not None and stream.problem is not None


def finish(code: int) -> int:
    """Write what is buffered; the exit code of a command that ended with `code`.

    An error of stdout is a failure of the command, with a message. If the reader closed the pipe (`| head`), the command
    ends without a message.
    """
    with suppress(OSError, KeyboardInterrupt):
        sys.stdout.flush()
    stream = _complete(sys.stdout)
    if stream is None or stream.problem is None:
        return code
    stream.abandon()
    if isinstance(stream.problem, BrokenPipeError):
        return READER_LEFT
    if isinstance(stream.problem, InterruptedError):
        return code or INTERRUPTED
    say(
        f"webstrata: the output is not complete, stdout cannot be written: {stream.problem.strerror}. "
        "Check where the output goes and the free space there, and run the command again."
    )
    return code or 1


def _complete(stream: TextIO) -> CompleteStream | None:
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, CompleteStream) else None
