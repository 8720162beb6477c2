"""`webstrata rules`: how a page, or all pages with a tag, are fetched and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webstrata.cli.command_line import command_line, option_words
from webstrata.cli.options import (
    HomeOption,
    JsonOption,
    OptionalUrlArgument,
    RuleValues,
    TagOption,
    page_rules_json,
    page_rules_of,
    page_rules_options,
    with_rule_options,
)
from webstrata.cli.output import print_json
from webstrata.cli.pages.known_tags import CREATE_ADVICE, CreateOption, require_tags
from webstrata.cli.session import open_node, optional_home, run_async
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page
from webstrata.records import PageRules


@with_rule_options()
def command(
    *,
    address: OptionalUrlArgument = None,
    tag: TagOption = None,
    rules: RuleValues,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all rules that are set, before any new ones.")] = False,
    create: CreateOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show or extend the rules of a page or a tag: the handler, the layer that decides, and what is compared.

    --select, --ignore, --ignore-text, --attributes and --ignore-attributes are added to those that are set; other
    options replace their old value. With --clear, the old rules are removed first. What the command prints can be
    typed to set the same rules again.

    The rules of a tag apply to all pages with this tag that have no rules of their own. A tag that no page or site has
    is an error (exit code 1) unless --create is given. `preview` shows the effect of
    rules before they are set.
    """
    if (address is None) == (tag is None):
        raise UsageError("name either a watched URL or a --tag.")
    given_rules = page_rules_of(**rules)
    page_rules = run_async(lambda: _apply(home, address, tag, given_rules, clear=clear, create=create))
    if as_json:
        print_json({"url": address, "tag": tag, "rules": page_rules_json(page_rules)})
    elif page_rules is None:
        typer.echo("No rules: the defaults apply (the main content, or the data of data formats, is compared).")
    else:
        typer.echo(_command_line(optional_home(home), address, tag, page_rules))


def _command_line(home: Path | None, address: str | None, tag: str | None, page_rules: PageRules) -> str:
    """The command that sets exactly these rules, whichever are set."""
    words = ["webstrata", "rules", *([address] if address is not None else option_words("--tag", tag))]
    if home is not None:
        words += option_words("--home", str(home))
    words += ["--clear", *(["--create"] if tag is not None else [])]
    for option, value in page_rules_options(page_rules):
        words += option_words(option, value)
    return command_line(words)


async def _apply(
    home: Path | None, address: str | None, tag: str | None, page_rules: PageRules | None, *, clear: bool, create: bool
) -> PageRules | None:
    """Set or remove the rules if requested; returns the rules that apply then."""
    async with open_node(home).store() as store:
        if address is not None:
            page = await watched_page(store, address)
            if page_rules is None and not clear:
                return page.page_rules
            page_rules = _changed(page.page_rules, page_rules, clear=clear)
            if page_rules != page.page_rules:
                await store.pages.set_rules(page.id, page_rules)
            return page_rules
        assert tag is not None
        tag_rules = await store.pages.tag_rules()
        if not create:
            await require_tags(store, [tag], stored=tag_rules, advice=CREATE_ADVICE)
        before = tag_rules.get(tag)
        if page_rules is None and not clear:
            return before
        page_rules = _changed(before, page_rules, clear=clear)
        if page_rules != before:
            await store.pages.set_tag_rules(tag, page_rules)
        return page_rules


def _changed(before: PageRules | None, given: PageRules | None, *, clear: bool) -> PageRules | None:
    """The rules after the command. Raises UsageError if there are too many."""
    from webstrata.observe.rules.select import check_page_rules

    if before is None or given is None or clear:
        return given
    rules = before.extended(given)
    check_page_rules(rules)
    return rules
