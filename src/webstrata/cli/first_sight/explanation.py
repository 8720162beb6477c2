"""`webstrata train --show URL`: why the model puts a page into its group."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from webstrata.cli.output import print_json, print_table
from webstrata.cli.session import open_node, run_async
from webstrata.errors import UsageError
from webstrata.flows.versions import watched_page

if TYPE_CHECKING:
    from webstrata.predict.first_sight.explaining import Explanation, TreeStep
    from webstrata.predict.first_sight.model import FirstSightModel


def show_page(home: Path | None, address: str, *, as_json: bool) -> None:
    """Print the class of a page of the home, and its reasons."""
    node = open_node(home)
    model = node.first_sight_model()

    async def read() -> tuple[str, dict[str, float] | None]:
        from webstrata.flows.training_pages import page_features

        async with node.store() as store:
            page = await watched_page(store, address)
            return page.url, (await page_features(store, [page.id])).get(page.id)

    url, features = run_async(read)
    if features is None:
        raise UsageError(
            f"no features of {url} are stored yet: a visit that sees its first or a new version stores them."
        )
    found = _explained(model, features)
    if as_json:
        print_json({"url": url, "model": model.origin, "explanation": found})
    else:
        _show(url, found, model)


def _explained(model: FirstSightModel, features: dict[str, float]) -> Explanation:
    from webstrata.predict.activity import pooled_activity
    from webstrata.predict.first_sight.explaining import explained
    from webstrata.predict.first_sight.model import feature_rows

    return explained(model, feature_rows([features], model.features), pooled_activity().per_day)


def _show(url: str, found: Explanation, model: FirstSightModel) -> None:
    from webstrata.predict.first_sight.explaining import number_text

    typer.echo(
        f"{url}\n  group {found.group}: one change in {number_text(1 / found.mean_rate_per_day)} days is expected\n"
    )
    print_table(
        ("group", "by its look", "chance"),
        [
            (name, f"{balanced:.0%}", f"{chance:.0%}")
            for name, balanced, chance in zip(found.groups, found.balanced, found.chances, strict=True)
        ],
    )
    if found.path:
        typer.echo("\nPath through the tree")
        for step in found.path:
            typer.echo(f"  {_words(step)}")
    if found.effects:
        typer.echo(f"\nWhat counts most for {found.group}")
        for effect in found.effects:
            direction = "for" if effect.effect > 0 else "against"
            typer.echo(f"  {effect.feature} = {number_text(effect.value)}: {abs(effect.effect):.0%} {direction} it")
    origin = model.origin
    typer.echo(
        f"\nThe model ({origin.method}, trained on {origin.pages} pages of {origin.sites} sites: {origin.source}) puts "
        f"{origin.error_on_unseen_sites:.0%} of the pages of an unseen site into a wrong group."
    )


def _words(step: TreeStep) -> str:
    from webstrata.predict.first_sight.explaining import number_text

    relation = "above" if step.is_above else "at most"
    if step.value is None:
        return f"{step.feature} is not known: goes with the pages {relation} {number_text(step.threshold)}"
    return f"{step.feature} = {number_text(step.value)}: {relation} {number_text(step.threshold)}"
