"""IRIs in RDFa 1.1: terms, compact IRIs (with or without brackets), and the predefined prefixes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urljoin

from pyoxigraph import NamedNode

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
XHV = "http://www.w3.org/1999/xhtml/vocab#"
USES_VOCABULARY = "http://www.w3.org/ns/rdfa#usesVocabulary"

INITIAL_PREFIXES: Mapping[str, str] = {
    "as": "https://www.w3.org/ns/activitystreams#",
    "cc": "http://creativecommons.org/ns#",
    "csvw": "http://www.w3.org/ns/csvw#",
    "ctag": "http://commontag.org/ns#",
    "dc": "http://purl.org/dc/terms/",
    "dc11": "http://purl.org/dc/elements/1.1/",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcterms": "http://purl.org/dc/terms/",
    "dqv": "http://www.w3.org/ns/dqv#",
    "duv": "https://www.w3.org/ns/duv#",
    "earl": "http://www.w3.org/ns/earl#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "gr": "http://purl.org/goodrelations/v1#",
    "grddl": "http://www.w3.org/2003/g/data-view#",
    "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
    "jsonld": "http://www.w3.org/ns/json-ld#",
    "ldp": "http://www.w3.org/ns/ldp#",
    "ma": "http://www.w3.org/ns/ma-ont#",
    "oa": "http://www.w3.org/ns/oa#",
    "odrl": "http://www.w3.org/ns/odrl/2/",
    "og": "http://ogp.me/ns#",
    "org": "http://www.w3.org/ns/org#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "prov": "http://www.w3.org/ns/prov#",
    "qb": "http://purl.org/linked-data/cube#",
    "rdf": RDF,
    "rdfa": "http://www.w3.org/ns/rdfa#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "rev": "http://purl.org/stuff/rev#",
    "rif": "http://www.w3.org/2007/rif#",
    "rr": "http://www.w3.org/ns/r2rml#",
    "schema": "http://schema.org/",
    "sd": "http://www.w3.org/ns/sparql-service-description#",
    "sioc": "http://rdfs.org/sioc/ns#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "skosxl": "http://www.w3.org/2008/05/skos-xl#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "time": "http://www.w3.org/2006/time#",
    "v": "http://rdf.data-vocabulary.org/#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "void": "http://rdfs.org/ns/void#",
    "wdr": "http://www.w3.org/2007/05/powder#",
    "wdrs": "http://www.w3.org/2007/05/powder-s#",
    "wot": "http://xmlns.com/wot/0.1/",
    "xhv": XHV,
    "xml": "http://www.w3.org/XML/1998/namespace",
    "xsd": XSD,
}
"""The prefixes of the initial context of RDFa 1.1."""
_TERMS = {
    "describedby": "http://www.w3.org/2007/05/powder-s#describedby",
    "license": XHV + "license",
    "role": XHV + "role",
}
_TERM = re.compile(r"[^\W\d][\w\-./]*")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\\x7f]')


def declared_prefixes(prefix: str) -> Iterator[tuple[str, str]]:
    """The pairs (prefix, IRI) of a `prefix` attribute. The prefix `_` is reserved for blank nodes."""
    words = prefix.split()
    for name, value in zip(words[::2], words[1::2], strict=False):
        if name.endswith(":") and name not in (":", "_:"):
            yield name[:-1].lower(), value


class RdfaPrefixes:
    """Resolves names at one element, with its prefixes and its vocabulary."""

    def __init__(self, base: str, prefixes: Mapping[str, str], vocabulary: str) -> None:
        self._base = base
        self._prefixes = prefixes
        self._vocabulary = vocabulary

    def resource(self, value: str) -> str | None:
        """The value of `about` or `resource`: an IRI, or a compact IRI with or without brackets, or `_:label`."""
        value = value.strip()
        if value.startswith("[") and value.endswith("]"):
            return self._compact(value[1:-1])
        return self._compact(value) or self.address(value)

    def address(self, value: str) -> str | None:
        """The value of `href` or `src`: a resolved IRI; None if it is invalid."""
        try:
            return valid_iri(_NOT_IN_IRI.sub(lambda found: f"%{ord(found[0]):02X}", urljoin(self._base, value.strip())))
        except ValueError:
            return None

    def predicates(self, values: str) -> list[str]:
        """The valid values of `property`, `rel`, `rev` or `typeof`: terms, compact IRIs or absolute IRIs."""
        names = (self.term(value) for value in values.split())
        return list(dict.fromkeys(name for name in names if name is not None))

    def term(self, value: str) -> str | None:
        """One value, as in `datatype`; None if it is invalid."""
        if _TERM.fullmatch(value):
            if self._vocabulary:
                return valid_iri(self._vocabulary + value)
            return _TERMS.get(value) or _TERMS.get(value.lower())
        return self._compact(value) or (valid_iri(value) if _ABSOLUTE.match(value) else None)

    def _compact(self, value: str) -> str | None:
        prefix, colon, rest = value.partition(":")
        if not colon or rest.startswith("//"):
            return None
        if prefix == "_":
            return f"_:{rest}"
        start = XHV if not prefix else self._prefixes.get(prefix.lower())
        return None if start is None else valid_iri(start + rest)


def valid_iri(iri: str) -> str | None:
    """The IRI; None if it is not an absolute IRI."""
    try:
        return NamedNode(iri).value
    except ValueError:
        return None
