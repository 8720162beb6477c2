"""`webstrata certificate keys`: the keys that sign packages of captures, and the file by which others know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from webstrata.cli.options import HomeOption, JsonOption
from webstrata.cli.output import print_json, print_table, printable
from webstrata.cli.session import open_node
from webstrata.errors import UsageError

if TYPE_CHECKING:
    from webstrata.sharp.proof.key_ring import KeyRing

app = typer.Typer(help="List, make, rotate and revoke the keys that sign packages.", invoke_without_command=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", show_default=False, help="Name of the key.")]


@app.callback()
def keys(context: typer.Context, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List the keys of the home."""
    if context.invoked_subcommand is None:
        _report(open_node(home).signing_keys().ring(), as_json=as_json)


@app.command()
def make(name: NameArgument, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Make a key. It signs if there is no other; else `rotate NAME` lets it sign."""
    _report(open_node(home).signing_keys().make(name), as_json=as_json)


@app.command()
def show(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", show_default=False, help="Name of the key. Default: the key that signs."),
    ] = None,
    home: HomeOption = None,
    trust: Annotated[bool, typer.Option("--trust", help="Print the trust file of all keys, to be published.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a public key with its fingerprint, or print the trust file."""
    ring = open_node(home).signing_keys().ring()
    if trust:
        typer.echo(ring.trust_file().decode())
        return
    if not (name or ring.signing):
        raise UsageError("there is no key yet. The first capture makes one, or `webstrata certificate keys make NAME`.")
    key = ring.key(name or ring.signing)
    if as_json:
        print_json(_plain(key, ring))
        return
    typer.echo(f"{key.name}: {_state(key, ring)}")
    typer.echo(f"fingerprint  {key.fingerprint}")
    lines = [key.public_key[at : at + 64] for at in range(0, len(key.public_key), 64)]
    typer.echo("\n".join(["-----BEGIN PUBLIC KEY-----", *lines, "-----END PUBLIC KEY-----"]))


@app.command()
def rotate(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", show_default=False, help="The key that is to sign; made if it is new.")
    ] = "",
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let another key sign from now on. The old key signs the statement that it is succeeded by the new one."""
    _report(open_node(home).signing_keys().rotate(name), as_json=as_json)


@app.command()
def revoke(
    name: NameArgument,
    reason: Annotated[
        str,
        typer.Option("--reason", metavar="REASON", help="Reason of the revocation; it is written to the trust file."),
    ],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key from now on. Publish the trust file (`show --trust`) again afterwards."""
    _report(open_node(home).signing_keys().revoke(name, reason), as_json=as_json)


def _report(ring: KeyRing, *, as_json: bool) -> None:
    if as_json:
        print_json({"signing": ring.signing or None, "keys": [_plain(key, ring) for key in ring.keys]})
    elif not ring.keys:
        typer.echo("There are no keys yet: the first capture makes one.")
    else:
        print_table(
            ("name", "state", "fingerprint"), [(key.name, _state(key, ring), key.fingerprint) for key in ring.keys]
        )


def _plain(key: Any, ring: KeyRing) -> dict[str, Any]:
    return dict(msgspec.to_builtins(key)) | {"signing": key.name == ring.signing and key.revoked is None}


def _state(key: Any, ring: KeyRing) -> str:
    if key.revoked is not None:
        return printable(f"revoked {key.revoked.at} ({key.revoked.reason})")
    if key.name == ring.signing:
        return f"signs since {key.valid_from}"
    return f"replaced {key.valid_to}" if key.valid_to else "spare"
