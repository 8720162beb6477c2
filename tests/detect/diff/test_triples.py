from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webstrata.detect.diff.triples import PropertyChange, SubjectChange, by_subject


def test_triples_by_subject() -> None:
    """Old and new values of a property of one subject stand together; literals may contain spaces."""
    removed = ['<b> <p> "the old text"@en .', "<a> <q> <x> ."]
    added = ['<b> <p> "the new text"@en .', "<b> <r> <y> <graph> ."]

    assert by_subject(added, removed) == [
        SubjectChange(subject="<a>", properties=(PropertyChange(name="<q>", before="<x>"),)),
        SubjectChange(
            subject="<b>",
            properties=(
                PropertyChange(name="<p>", before='"the old text"@en', after='"the new text"@en'),
                PropertyChange(name="<r>", after="<y> <graph>"),
            ),
        ),
    ]


def test_datatypes_have_their_usual_prefix() -> None:
    """The types of XML Schema are shown by their short names."""
    (subject,) = by_subject(['<a> <p> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .'], [])

    assert subject.properties == (PropertyChange(name="<p>", after='"5"^^xsd:integer'),)


@given(st.lists(st.text(max_size=20)), st.lists(st.text(max_size=20)))
def test_every_line_is_kept(added: list[str], removed: list[str]) -> None:
    """Any lines can be grouped, and each is one value."""
    changes = [change for subject in by_subject(added, removed) for change in subject.properties]

    assert sum(change.after is not None for change in changes) == len(added)
    assert sum(change.before is not None for change in changes) == len(removed)
