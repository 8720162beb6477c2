"""Histories of pages with one thing that changes: noise of every kind, and figures that people watch.

Run as a program, it prints how many changes of 30 visits are told: `python -m tests.detect.noise_histories`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from random import Random

from tests.detect.watched_page import WatchedPage

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
START = datetime(2026, 3, 1, 9, tzinfo=UTC).timestamp()
VISITS = 30
EVERY = {"5 min": 5 * MINUTE, "1 day": DAY}

ARTICLE = [
    "The bridge over the river",
    "It was built in 1902 and renewed in 1988 by the city.",
    "Trains cross it at walking pace, and walkers use the narrow path on its northern side.",
    "The towers are of granite from the hills nearby; the deck is of steel.",
    "In winter the path is closed when there is ice on it, which happens more and more rarely.",
    "The council decided to paint it green, after a long debate about other colours.",
    "A small museum in the southern tower shows how it was built.",
    "See also the list of bridges in this part of the country",
]
PEOPLE = [f"{a}{b}" for a in ("Anna", "Bert", "Cleo", "Dora", "Emil") for b in ("lise", "ram", "nor", "tine", "wig")]
QUOTES = [f"{name} says that the view from the {tower} tower is a joy" for name in PEOPLE for tower in ("old", "new")]
ADS = [
    "Buy socks, warm as toast",
    "Fly to the moon and back",
    "Learn to juggle in nine easy lessons",
    "A lamp for every mood",
    "Tea from the garden next door",
    "Paint your boat before winter",
]

Lines = Callable[[Random, float, int], list[str]]


def in_article(*lines: str) -> list[str]:
    return [*ARTICLE[:3], *lines, *ARTICLE[3:]]


def far_down(*lines: str, start: int) -> list[str]:
    texts = [f"{b}, and {a}, in the {c} book" for c in ("red", "blue", "grey") for a in PEOPLE for b in QUOTES]
    return [*texts[:start], *lines, *texts[start : start + 200]]


def age(seconds: float) -> str:
    for name, length in (("day", DAY), ("hour", HOUR), ("minute", MINUTE)):
        count = int(seconds // length)
        if count:
            return "yesterday" if (name, count) == ("day", 1) else f"{count} {name}{'s' * (count > 1)} ago"
    return "just now"


def clock(random: Random, at: float, n: int) -> list[str]:
    return in_article(f"It is now {datetime.fromtimestamp(at, UTC):%A, %d %B %Y %H:%M:%S}")


def german_clock(random: Random, at: float, n: int) -> list[str]:
    now = datetime.fromtimestamp(at, UTC)
    days = ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag")
    return in_article(f"{days[now.weekday()]}, {now.day}. März {now.year}, {now:%H:%M} Uhr")


def token(random: Random, at: float, n: int) -> list[str]:
    return in_article(f"Session {random.getrandbits(96):024x}")


def views(random: Random, at: float, n: int) -> list[str]:
    return in_article(f"{int((at - START) / 40) + 1_200_345:,} views")


def slow_views(random: Random, at: float, n: int) -> list[str]:
    return in_article(f"{n // 2 + 17} views")


def online(random: Random, at: float, n: int) -> list[str]:
    return in_article(f"{random.randrange(30, 99)} visitors online")


def load_time(random: Random, at: float, n: int) -> list[str]:
    return in_article(f"Page generated in {random.random():.3f} seconds with {random.randrange(9, 40)} queries")


def posted(random: Random, at: float, n: int) -> list[str]:
    return in_article(f"Posted {age(at - START + 40 * MINUTE)} by Anna")


def many_ages(random: Random, at: float, n: int) -> list[str]:
    return in_article(*(line for i in range(9) for line in (QUOTES[i], age(at - START + i * i * 17 * MINUTE))))


def advertisement(random: Random, at: float, n: int) -> list[str]:
    return in_article(random.choice(ADS))


def few_advertisements(random: Random, at: float, n: int) -> list[str]:
    return in_article(random.choice(ADS[:3]))


def last_line(random: Random, at: float, n: int) -> list[str]:
    return [*ARTICLE, random.choice(ADS)]


def growing_advertisements(random: Random, at: float, n: int) -> list[str]:
    return in_article(random.choice([*ADS[:3], *(f"Visit {name} for a day" for name in PEOPLE)][: 3 + n // 3]))


def two_line_advertisements(random: Random, at: float, n: int) -> list[str]:
    ad = random.randrange(6)
    return in_article(f"{PEOPLE[ad]} is here", f"Try the new {PEOPLE[-ad]} today and be glad")


def testimonials(random: Random, at: float, n: int) -> list[str]:
    return in_article("What people say", *random.sample(QUOTES[:20], 3), "All opinions")


def shuffled(count: int) -> Lines:
    return lambda random, at, n: in_article(*random.sample(QUOTES[:count], count))


def everything(random: Random, at: float, n: int) -> list[str]:
    one, two, three = (one(random, at, n)[3] for one in (few_advertisements, views, token))
    return [*ARTICLE[:2], one, two, *ARTICLE[2:5], *random.sample(QUOTES[:6], 6), *ARTICLE[5:7], three, *ARTICLE[7:]]


def deep_clock(start: int) -> Lines:
    return lambda random, at, n: far_down(clock(random, at, n)[3], start=start)


def deep_advertisement(random: Random, at: float, n: int) -> list[str]:
    return far_down(random.choice(ADS[:3]), start=1500)


def deep_clock_and_price(random: Random, at: float, n: int) -> list[str]:
    return far_down(clock(random, at, n)[3], f"Price: {40 + n % 7} EUR", start=1500)


def figure(text: str, *values: str) -> Lines:
    return lambda random, at, n: in_article(text.format(values[n % len(values)] if values else 20 + n * 7 % 30))


def short_page(random: Random, at: float, n: int) -> list[str]:
    return ["Widgets", str(100 + n), "counted by hand"]


def five_figures(random: Random, at: float, n: int) -> list[str]:
    names = ("Widgets", "Gears", "Bolts", "Nuts", "Springs")
    return ["Warehouse", *ARTICLE[3:6], *(f"{name} {random.randrange(10, 99)}" for name in names)]


def price_column(random: Random, at: float, n: int) -> list[str]:
    return in_article("Article", "Price", "Lamp", str(90 + n), "Chair", "120")


def daily_news(random: Random, at: float, n: int) -> list[str]:
    words = " ".join(random.choice(("sky", "leaf", "stone", "river", "wind", "ember")) for _ in range(9))
    return in_article(f"{words}.")


def status(random: Random, at: float, n: int) -> list[str]:
    return in_article("All is well" if n % 2 else f"Trouble with {PEOPLE[n % len(PEOPLE)]} in the {QUOTES[n]}")


NOISE: dict[str, Lines] = {
    "clock": clock,
    "clock in German": german_clock,
    "token": token,
    "view count": views,
    "view count that grows at every other visit": slow_views,
    "visitors online": online,
    "load time": load_time,
    "n hours ago": posted,
    "nine posts with n hours ago": many_ages,
    "one of six advertisements": advertisement,
    "one of three advertisements": few_advertisements,
    "one of six advertisements, in the last line": last_line,
    "one of a growing set of advertisements": growing_advertisements,
    "advertisements of two lines": two_line_advertisements,
    "3 of 20 testimonials": testimonials,
    "shuffled list of 5": shuffled(5),
    "shuffled list of 20": shuffled(20),
    "shuffled list of 50": shuffled(50),
    "advertisement, view count, shuffled list and token": everything,
    "clock at line 500": deep_clock(500),
    "clock at line 1,500": deep_clock(1500),
    "one of three advertisements at line 1,500": deep_advertisement,
}
WATCHED: dict[str, Lines] = {
    "price with a currency": figure("Price: {} EUR"),
    "price with a symbol only": figure("€{}.99"),
    "price without a currency": figure("Our price today {}"),
    "price in German": figure("Verkaufspreis {},00"),
    "price in a column": price_column,
    "price at line 1,500 beside a clock": deep_clock_and_price,
    "n left": figure("Only {} left in stock"),
    "stock in French": figure("Plus que {} disponibles"),
    "case count": figure("Confirmed cases: 1,2{}"),
    "score of a game": figure("{}", "0 : 0", "1 : 0", "1 : 1", "2 : 1"),
    "temperature": figure("{} °C"),
    "votes": figure("Votes: {}"),
    "figure on a short page": short_page,
    "five figures on a page": five_figures,
}
OTHER: dict[str, Lines] = {"news": daily_news, "status": status}

SEEDS = (1, 2, 3)


def told(lines: Lines, every_s: float, seed: int = SEEDS[0]) -> tuple[int, int]:
    """(visits with other lines than before, changes told)."""
    page, random = WatchedPage(), Random(seed)
    differ = changes = 0
    last: list[str] = []
    for n in range(VISITS):
        at = START + n * every_s + random.random()
        now = lines(random, at, n)
        differ += bool(last) and now != last
        changes += page.visit(now, at).counts
        last = now
    return differ, changes


def median_told(lines: Lines, every_s: float) -> tuple[int, int]:
    """The medians over several random histories."""
    differ, changes = zip(*(told(lines, every_s, seed) for seed in SEEDS), strict=True)
    return sorted(differ)[len(SEEDS) // 2], sorted(changes)[len(SEEDS) // 2]


def main() -> None:
    for title, kinds in (("noise", NOISE), ("watched", WATCHED), ("other", OTHER)):
        print(f"| {title} | " + " | ".join(f"differ, {every} | told, {every}" for every in EVERY) + " |")
        print("|---|" + "---:|---:|" * len(EVERY))
        for name, lines in kinds.items():
            counts = [str(count) for every_s in EVERY.values() for count in median_told(lines, every_s)]
            print(f"| {name} | {' | '.join(counts)} |", flush=True)


if __name__ == "__main__":
    main()
