"""Conversions to text by tools that watch pages, run in their own environment (`.peers`).

Both tools report a change if the converted text differs. `watched_texts` runs this file as a script:
`python watchers.py NAME FOLDER`. The script prints a JSON list of the texts that the tool compares. The tools are
installed without the servers and browsers that they require; their own functions convert, with their default settings:

- changedetection.io: HTML by Beautiful Soup and inscriptis, feeds with their CDATA as text, JSON with sorted keys,
  other types as they are; white space does not count.
- urlwatch: HTML by the filter `html2text` with its default method `re`, other types as they are.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

_PYTHON = Path(".peers/bin/python")
_CONTENTS = "contents.json"

Converter = Callable[[str, str], str]
"""(content, media type) -> text."""


def watched_texts(name: str, contents: Sequence[tuple[bytes, str]]) -> list[str]:
    """The text of each content that the tool compares with that of the next version."""
    with tempfile.TemporaryDirectory() as folder:
        decoded = [(_decoded(body), media_type) for body, media_type in contents]
        Path(folder, _CONTENTS).write_text(json.dumps(decoded), encoding="utf-8")
        command = [str(_PYTHON), __file__, name, folder]
        process = subprocess.run(command, capture_output=True, text=True, check=True)
    texts: list[str] = json.loads(process.stdout)
    return texts


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("latin-1")


def _changedetection() -> Converter:
    import changedetectionio
    from changedetectionio import html_tools
    from loguru import logger

    logger.remove()
    # The package `processors` needs a web server, but its module that finds out the type of a content does not.
    file = Path(changedetectionio.__file__).parent / "processors" / "magic.py"
    spec = importlib.util.spec_from_file_location("magic", file)
    assert spec is not None
    assert spec.loader is not None
    magic = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(magic)

    def sorted_json(content: str) -> str:
        """The steps of `ContentProcessor.preprocess_json`."""
        try:
            content = html_tools.extract_json_as_string(content=content, json_filter="json:$")
        except html_tools.JSONNotFound:
            return content
        try:
            return json.dumps(json.loads(content), sort_keys=True, indent=2, ensure_ascii=False)
        except ValueError:
            return content

    def convert(content: str, media_type: str) -> str:
        """The steps of `perform_site_check.run_changedetection` for a watch without filters."""
        stream = magic.guess_stream_type(http_content_header=media_type, content=content)
        if stream.is_rss:
            content = html_tools.cdata_in_document_to_text(html_content=content)
        if stream.is_json:
            content = sorted_json(content)
        if stream.is_html:
            content = html_tools.workarounds_for_obfuscations(content)
        if not stream.is_plaintext and (stream.is_html or stream.is_rss):
            content = html_tools.html_to_text(html_content=content, is_rss=stream.is_rss)
        text: str = content.translate(html_tools.TRANSLATE_WHITESPACE_TABLE)
        return text

    return convert


def _urlwatch() -> Converter:
    from urlwatch.html2txt import html2text

    return lambda content, media_type: (
        html2text(content, baseurl="", method="re", options={}) if media_type == "text/html" else content
    )


_CONVERTERS: dict[str, Callable[[], Converter]] = {"changedetection.io": _changedetection, "urlwatch": _urlwatch}


def main() -> None:
    name, folder = sys.argv[1:]
    convert = _CONVERTERS[name]()
    contents = json.loads(Path(folder, _CONTENTS).read_text(encoding="utf-8"))
    print(json.dumps([convert(content, media_type) for content, media_type in contents]))


if __name__ == "__main__":
    main()
