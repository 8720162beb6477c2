"""In which order a crawler finds the pages of a recorded site: by the links in the pages as they were."""

from __future__ import annotations

from webstrata.lab.livingweb.recording import Recording
from webstrata.observe.page import observe
from webstrata.sharp.linktree import LinkTree, link_tree


class RecordedLinks:
    """The links of one recorded site; each content is read once."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._path_of = {recording.url(path): path for path in recording.pages}
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def tree(self, paths: list[str], at: float) -> LinkTree:
        """First discoveries, breadth first from the front page; what no page links is a seed, as from a sitemap. A site
        without a front page is known by its list of pages."""
        row_of = {path: row for row, path in enumerate(paths)}
        front = [row_of[path] for path in ("index.html", "index.htm") if path in row_of]
        if not front:
            return link_tree({}, len(paths))
        children: dict[int, list[int]] = {}
        found = set(front)
        others = sorted(set(row_of.values()) - found, key=lambda row: (paths[row].count("/"), row))
        for root in [*front, *others]:
            if root in front or root not in found:
                found.add(root)
                self._follow([root], paths, row_of, at, found, children)
        return link_tree(children, len(paths))

    def _follow(
        self,
        waiting: list[int],
        paths: list[str],
        row_of: dict[str, int],
        at: float,
        found: set[int],
        children: dict[int, list[int]],
    ) -> None:
        """Breadth first: `waiting` grows while it is walked along."""
        for row in waiting:
            for path in self._links(paths[row], at):
                linked = row_of.get(path)
                if linked is not None and linked not in found:
                    found.add(linked)
                    children.setdefault(row, []).append(linked)
                    waiting.append(linked)

    def _links(self, path: str, at: float) -> tuple[str, ...]:
        version = self._recording.version_at(path, at)
        blob = version[1] if version else None
        if blob is None:
            return ()
        if (path, blob) not in self._known:
            seen = observe(self._recording.contents[blob], None, self._recording.url(path))
            linked = (self._path_of.get(url) for url in seen.links)
            self._known[path, blob] = tuple(one for one in linked if one is not None)
        return self._known[path, blob]
