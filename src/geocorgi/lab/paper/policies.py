"""Experiment 7: the policies that people's own check-ins come to (Paper: §6.1).

Everybody wants ``home = False, office = False, outlier = False, popular = True``. The device's own
machinery decides, over the whole map, what S is, which δ is asked for and whether the universal
mechanism has to stand in: once with everything private, once with the popular cells as a public
filter of the map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from geocorgi.device.attributes.habits import Habits
from geocorgi.device.attributes.own_places import own_attributes, own_places
from geocorgi.device.evaluation import removed_over_map
from geocorgi.device.policy import Policy, Protection
from geocorgi.device.preferences import Operator, Preference
from geocorgi.device.secret import LENGTH, DeviceSecret
from geocorgi.device.selection import Mechanism, Selection, select
from geocorgi.errors import InvalidPolicy, PolicyNotMet
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.problem import problem_on_cells
from geocorgi.generate.robust import robust
from geocorgi.generate.universal import universal
from geocorgi.lab.chart import Panel, Series
from geocorgi.lab.city import City, city_of
from geocorgi.lab.experiment import (
    Claim,
    Experiment,
    Parameters,
    Row,
    Setting,
    number,
    numbers,
    where,
)
from geocorgi.lab.instance import random_targets
from geocorgi.lab.people import people_of
from geocorgi.matrix.prunable import Rows
from geocorgi.server.catalogue import DELTAS, Offer, with_catalogue
from geocorgi.tree.priors import restricted
from geocorgi.wire.public_map import PublicMap, Settings

EPSILON_PER_KM = 5.0
LEVELS, QUICK_LEVELS = (1, 2, 3), (1, 2)
PRIVATE, PUBLIC = "everything private", "popular as a public filter"
VARIANTS = (PRIVATE, PUBLIC)
POPULAR = "popular"
PAPERS_LARGEST_DELTA = 7
MOST_PEOPLE, QUICK_MOST_PEOPLE = 400, 20
GENERATED_AT_343 = (0, 2)  # δ at level 3, where popular cells are a public filter
GAP, GAP_OF_MANY, MANY = 1e-2, 5e-2, 49
PEOPLE, LOSS = "people", "loss"
FOREST, UNIVERSAL, REFUSED = "forest", "universal", "refused"
SECRET = DeviceSecret(bytes(LENGTH))  # nobody's: no policy here has decoys


def cases(setting: Setting) -> Sequence[Parameters]:
    """Return the cases: people at every level, and what a δ costs where matrices are generated."""
    levels = QUICK_LEVELS if setting.quick else LEVELS
    people: list[Parameters] = [
        {"part": PEOPLE, "city": city, "level": level, "variant": variant}
        for city in setting.cities
        for level in levels
        for variant in VARIANTS
    ]
    losses: list[Parameters] = [
        {"part": LOSS, "city": setting.city, "level": level, "variant": variant, "delta": delta}
        for level in (levels[:1] if setting.quick else levels[::-1])
        for variant in VARIANTS
        for delta in (*_generated(level, variant), None)
    ]
    return losses + people  # what takes longest begins first


def _generated(level: int, variant: str) -> Sequence[int]:
    """Return the δ that matrices are generated for: none where all 343 leaves may be reported."""
    if level < LEVELS[-1]:
        return DELTAS
    return GENERATED_AT_343 if variant == PUBLIC else ()


def measure(parameters: Parameters, setting: Setting) -> list[Row]:
    """Count the people by what they need and get, or measure what a δ costs."""
    city = city_of(str(parameters["city"]), setting)
    if parameters["part"] == LOSS:
        return _losses(parameters, city, setting)
    public_map = _map(city)
    most = QUICK_MOST_PEOPLE if setting.quick else MOST_PEOPLE
    outcomes = Counter(
        _outcome(habits, public_map, parameters) for habits in people_of(city.name, setting)[:most]
    )
    return [
        parameters | {"needed": needed, "delta": delta, "mechanism": mechanism, "people": count}
        for (needed, delta, mechanism), count in sorted(outcomes.items())
    ]


def _popular(city: City) -> tuple[str, ...]:
    """Return the leaves that have any check-in: as little as popular can mean."""
    counts = city.priors.weights
    return tuple(leaf for leaf, count in zip(city.tree.leaves, counts, strict=True) if count > 0)


def _map(city: City) -> PublicMap:
    plain = PublicMap(
        roots=(city.tree.root,),
        height=city.tree.height,
        priors=city.priors,
        settings=Settings((EPSILON_PER_KM,)),
        filters={POPULAR: tuple(sorted(_popular(city)))},
    )
    return with_catalogue(plain, Offer(LEVELS, DELTAS, (Rows.KEEP,)))


def policy(level: int, variant: str) -> Policy:
    """Return the paper's example of a policy."""
    wishes = {"home": False, "office": False, "outlier": False, POPULAR: True}
    return Policy(
        privacy_level=level,
        precision_level=0,
        preferences=tuple(Preference(n, Operator.EQUAL, value) for n, value in wishes.items()),
        private=variant == PRIVATE,
        protection=Protection(EPSILON_PER_KM),
    )


def _outcome(habits: Habits, public_map: PublicMap, parameters: Parameters) -> tuple[int, int, str]:
    """Return what one person needs, the δ that is asked for, and which mechanism she gets."""
    wanted = policy(int(number(parameters, "level")), str(parameters["variant"]))
    known = own_attributes(own_places(habits, ()), public_map.leaves)
    removal = removed_over_map(wanted, public_map, known)
    try:
        found: Selection = select(wanted, public_map, removal, SECRET)
    except (PolicyNotMet, InvalidPolicy):
        return (_largest_count(removal.removed, public_map, parameters), -1, REFUSED)
    mechanism = FOREST if found.mechanism is Mechanism.FOREST else UNIVERSAL
    return (found.needed_delta, found.request.delta, mechanism)


def _largest_count(removed: frozenset[str], public_map: PublicMap, parameters: Parameters) -> int:
    """Return the largest ``|S|`` of any subtree; with the filter, of what passes it."""
    if parameters["variant"] == PUBLIC:
        removed = removed.intersection(public_map.filters[POPULAR])
    subtrees = public_map.subtrees(int(number(parameters, "level")))
    return max(len(removed.intersection(subtree.leaves)) for subtree in subtrees)


def _losses(parameters: Parameters, city: City, setting: Setting) -> list[Row]:
    """Return the loss in the busiest subtree; without a δ that of the universal mechanism."""
    level = int(number(parameters, "level"))
    busiest = city.busiest_subtree
    tree = {1: busiest.subtrees(1)[0], 2: busiest, 3: city.tree}[level]
    popular = frozenset(_popular(city))
    public = parameters["variant"] == PUBLIC
    reportable = tuple(leaf for leaf in tree.leaves if leaf in popular or not public)
    delta = parameters["delta"]
    if not reportable or (delta is not None and number(parameters, "delta") > len(reportable) - 2):
        return [parameters | {"loss_km": None}]
    problem = problem_on_cells(
        tree.leaves,
        EPSILON_PER_KM,
        restricted(city.priors, tree.leaves),
        random_targets(city, setting.seed),
        reportable,
    )
    if delta is None:
        return [parameters | {"loss_km": universal(problem).loss_km}]
    limits = Limits(GAP if len(tree.leaves) <= MANY else GAP_OF_MANY)
    found = robust(problem, int(number(parameters, "delta")), Rows.KEEP, limits)
    return [parameters | {"loss_km": found.loss_km}]


def panels(rows: list[Row]) -> list[Panel]:
    """Draw the distribution of ``|S|`` at every level, and the loss over δ."""
    people, losses = where(rows, part=PEOPLE), where(rows, part=LOSS)
    drawn = [
        Panel(f"{city}: {variant}", "largest |S| of a subtree", "share of people up to it",
              [Series(f"privacy level {level:.0f}", *_distribution(
                  where(people, city=city, variant=variant, level=int(level))))
               for level in sorted(set(numbers(people, "level")))])
        for city in dict.fromkeys(row["city"] for row in people)
        for variant in VARIANTS
    ]  # fmt: skip
    known = [row for row in losses if row["delta"] is not None and row["loss_km"] is not None]
    curves = [
        Series(f"level {level:.0f}, {variant}", numbers(some, "delta"), numbers(some, "loss_km"))
        for level in sorted(set(numbers(known, "level")))
        for variant in VARIANTS
        if (some := where(known, level=int(level), variant=variant))
    ]
    asked = [_asked_panel(str(city), where(people, city=city))
             for city in dict.fromkeys(row["city"] for row in people)]  # fmt: skip
    costs = Panel("what a δ costs, rows kept", "δ", "quality loss (km)", curves)
    return [*drawn, *asked, costs]


def _asked_panel(city: str, rows: list[Row]) -> Panel:
    """Draw for each δ of the catalogue who is served by a matrix for it or for less."""
    series = []
    for level in sorted(set(numbers(rows, "level"))):
        for variant in VARIANTS:
            here = where(rows, level=int(level), variant=variant)
            served = where(here, mechanism=FOREST)
            everybody = sum(numbers(here, "people"))
            shares = [
                sum(number(r, "people") for r in served if number(r, "delta") <= delta) / everybody
                for delta in DELTAS
            ]
            series.append(Series(f"level {level:.0f}, {variant}", DELTAS, shares))
    return Panel(f"{city}: δ asked for", "δ", "share of people served by a matrix", series)


def _distribution(rows: list[Row]) -> tuple[list[float], list[float]]:
    everybody = sum(numbers(rows, "people"))
    sizes = sorted(set(numbers(rows, "needed")))
    shares = [
        sum(number(r, "people") for r in rows if number(r, "needed") <= size) / everybody
        for size in sizes
    ]
    return sizes, shares


def share(rows: list[Row], *, beyond: int | None = None, mechanism: str | None = None) -> float:
    """Return the share of people who need more than so many cells, or get such a mechanism."""
    chosen = [
        row
        for row in rows
        if (beyond is None or number(row, "needed") > beyond)
        and (mechanism is None or row["mechanism"] == mechanism)
    ]
    return sum(numbers(chosen, "people")) / sum(numbers(rows, "people"))


def findings(rows: list[Row]) -> list[str]:
    """Say how large S is, who falls back, and what it costs."""
    people = where(rows, part=PEOPLE)
    said = []
    for city in dict.fromkeys(row["city"] for row in people):
        for level in sorted(set(numbers(people, "level"))):
            for variant in VARIANTS:
                here = where(people, city=city, level=int(level), variant=variant)
                said.append(_sentence(str(city), level, variant, here))
    said += _of_losses(where(rows, part=LOSS))
    return said + _of_people(rows)


def _of_people(rows: list[Row]) -> list[str]:
    """Say what people lose on average, each by the mechanism and the δ that she gets."""
    losses = where(rows, part=LOSS)
    city = losses[0]["city"]
    said = []
    for level in sorted(set(numbers(losses, "level"))):
        for variant in VARIANTS:
            found = mean_loss_km(rows, level=int(level), variant=variant)
            if found is not None:
                said.append(
                    f"{city}, privacy level {level:.0f}, {variant}: those who are served lose at "
                    f"most {1000 * found:.0f} m on average before their own cells are pruned."
                )
    return said


def mean_loss_km(rows: list[Row], *, level: int, variant: str) -> float | None:
    """Return the mean over the people of a level and variant; None where none is served.

    Where no matrix was generated for a δ the universal mechanism's loss stands in: a robust matrix
    never loses more.
    """
    losses = where(rows, part=LOSS, level=level, variant=variant)
    known = {row["delta"]: number(row, "loss_km") for row in losses if row["loss_km"] is not None}
    if None not in known:  # nothing may be reported there at all
        return None
    city = losses[0]["city"]
    people = where(rows, part=PEOPLE, city=city, level=level, variant=variant)
    total, served = 0.0, 0.0
    for row in people:
        if row["mechanism"] == REFUSED:
            continue
        delta = row["delta"] if row["mechanism"] == FOREST else None
        total += number(row, "people") * known.get(delta, known[None])
        served += number(row, "people")
    return total / served if served else None


def _sentence(city: str, level: float, variant: str, rows: list[Row]) -> str:
    total = sum(numbers(rows, "people"))
    asked = Counter[float]()
    for row in rows:
        if row["mechanism"] == FOREST:
            asked[number(row, "delta")] += int(number(row, "people"))
    listed = ", ".join(f"{d:.0f} ({n / total:.0%})" for d, n in sorted(asked.items())) or "none"
    needing, universal_, refused = (
        f"{part:.0%}"
        for part in (
            share(rows, beyond=PAPERS_LARGEST_DELTA),
            share(rows, mechanism=UNIVERSAL),
            share(rows, mechanism=REFUSED),
        )
    )
    return (
        f"{city}, privacy level {level:.0f}, {variant}: of {total:.0f} people {needing} need more "
        f"than the paper's largest δ of {PAPERS_LARGEST_DELTA}, {universal_} fall back to the "
        f"universal mechanism, {refused} are refused because some subtree would be empty; "
        f"δ asked for: {listed}."
    )


def _of_losses(rows: list[Row]) -> list[str]:
    said = []
    for level in sorted(set(numbers(rows, "level"))):
        for variant in VARIANTS:
            here = where(rows, level=int(level), variant=variant)
            known = [row for row in here if row["loss_km"] is not None]
            listed = ", ".join(
                f"{_asked(row)} {1000 * number(row, 'loss_km'):.0f} m" for row in known
            )
            said.append(
                f"Loss at ε = {EPSILON_PER_KM:g} per km, privacy level {level:.0f}, {variant}: "
                f"{listed}."
            )
    return said


def _asked(row: Row) -> str:
    return "universal" if row["delta"] is None else f"δ = {row['delta']}"


def claims(rows: list[Row]) -> list[Claim]:
    """Compare the δ that the paper evaluates with those that policies come to."""
    people = where(rows, part=PEOPLE, level=2)
    city = where(rows, part=LOSS)[0]["city"]  # the paper's own, where there are data of it
    beyond = {
        variant: share(where(people, city=city, variant=variant), beyond=PAPERS_LARGEST_DELTA)
        for variant in VARIANTS
    }
    return [
        Claim(
            "§6.1 and §6.2",
            f"realistic preferences are met with δ from 1 to {PAPERS_LARGEST_DELTA} "
            "(the values that are evaluated)",
            f"{beyond[PRIVATE]:.0%} of people need more at privacy level 2, everything private "
            f"({city})",
            f"{beyond[PUBLIC]:.0%} need more where popular cells are a public filter ({city})",
            "not reproduced" if beyond[PRIVATE] > 0 else "reproduced",
            "popular = True alone removes most cells of a subtree",
        )
    ]


POLICIES = Experiment(
    "policies",
    "Policies inferred from check-ins",
    "home, office and outliers by the device's own inference for everybody with ten visits or "
    "more, popular = at least one check-in; |S| is counted in every subtree, as the device does, "
    "and padded to the catalogue's δ.",
    cases,
    measure,
    panels,
    findings,
    claims,
    about_people=True,
)
