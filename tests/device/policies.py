"""Random policies: everything that a policy can say."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st

from geocorgi.device.areas import Around, ListedCells, Place, Polygon
from geocorgi.device.policy import (
    AtCeiling,
    Budget,
    OnExcess,
    OnUnreachable,
    Policy,
    Precision,
    Protection,
    Recipient,
)
from geocorgi.device.preferences import Operator, Preference, Unknown
from geocorgi.device.sources import Source
from geocorgi.device.units import BASE, UNITS, Kind
from geocorgi.matrix.prunable import Rows
from tests.wire.maps import LEAVES, TREE

NAMES = st.from_regex(r"\A[a-z][a-z0-9_-]{0,9}\Z")
WORDS = (
    st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=20)
    .filter(str.isprintable)
    .filter(lambda word: '"' not in word and word.strip() == word)
    .filter(lambda word: word.casefold() not in ("true", "false"))
)
NUMBERS = st.floats(-1e9, 1e9)
ORDERED = st.sampled_from(list(Operator))
EITHER = st.sampled_from([Operator.EQUAL, Operator.NOT_EQUAL])
PLACES = {"gym": Place(37.77, -122.42), "aunt": Place(-33.9, 18.4)}
TIMES = st.timedeltas(timedelta(microseconds=1), timedelta(minutes=2))


def sources():
    """Return sources that can be declared, whether or not anything is there."""

    def of(kind):
        units = [unit.name for unit in UNITS.values() if unit.kind is kind]
        return st.builds(
            Source,
            st.just(kind),
            table=st.none(),
            url=st.just('https://a.example/?q="{map}"&ü'),
            unit=st.sampled_from([*units, BASE.get(kind)]),
            column=st.none() | WORDS,
            time_to_live=TIMES,
            time_out=TIMES,
            subtree=st.none() | st.just(TREE.nodes(1)[2]),
        ) | st.builds(Source, st.just(kind), table=st.sampled_from(["a b.csv", "t.parquet"]))

    return st.sampled_from(list(Kind)).flatmap(of)


def preferences(known):
    """Return preferences on well-known variables and on those with a source."""
    manner = {"unknown": st.none() | st.sampled_from(list(Unknown)), "private": st.booleans()}
    truths = st.sampled_from(["home", "office", "outlier", "visited", "popular", "water", "land"])
    degrees, times = st.sampled_from(["°C", "°F"]), st.sampled_from(["seconds", "hours"])
    lengths = st.sampled_from(["m", "km", "miles"])
    found = [
        st.builds(Preference, truths, EITHER, st.booleans(), **manner),
        st.builds(Preference, st.sampled_from(["weather", "traffic"]), EITHER, WORDS, **manner),
        st.builds(Preference, st.just("temperature"), ORDERED, NUMBERS, degrees, **manner),
        st.builds(Preference, st.just("driving_time"), ORDERED, NUMBERS, times, **manner),
        st.builds(
            Preference, st.just("distance"), ORDERED, NUMBERS, lengths, **manner,
            origin=st.sampled_from([None, "subtree", "me", *PLACES]),
        ),
    ]  # fmt: skip
    usable = [name for name, source in known.items() if source.kind is Kind.NUMBER]
    if usable:
        found.append(st.builds(Preference, st.sampled_from(usable), ORDERED, NUMBERS, **manner))
    return st.one_of(found)


RING = "[[[-122.4, 37.7], [-122.3, 37.7], [-122.3, 37.8], [-122.4, 37.7]]]"
CELLS = st.lists(st.sampled_from([*LEAVES, *TREE.nodes(1)]), min_size=1, max_size=4)
AREAS = (
    st.builds(ListedCells, CELLS.map(tuple))
    | st.just(Polygon('{"type": "Polygon", "coordinates": ' + RING + "}"))
    | st.builds(Around, st.sampled_from(sorted(PLACES)), st.floats(1e-3, 5_000))
)  # fmt: skip
AREAS_KM2 = st.just(Protection().least_area_km2) | st.floats(0, 1e6)
PROTECTIONS = st.builds(
    Protection, st.floats(1e-3, 1e6), st.none(), least_area_km2=AREAS_KM2
) | st.builds(Protection, st.none(), st.floats(1e-3, 100), least_area_km2=AREAS_KM2)
BUDGETS = st.builds(
    Budget,
    st.floats(0, 24 * 36_525, exclude_min=True),
    st.none() | st.floats(1e-3, 1e6),
    st.sampled_from(list(AtCeiling)),
)


@st.composite
def policies(draw):
    """Return whole policies; none of its sources shadows a well-known variable."""
    privacy = draw(st.integers(1, 15))
    below = st.integers(0, privacy - 1)
    known = draw(st.dictionaries(NAMES.map(lambda name: f"x{name}"), sources(), max_size=3))
    return Policy(
        privacy,
        draw(below),
        draw(st.lists(preferences(known), max_size=5)),
        draw(st.sampled_from(list(Rows))),
        draw(st.sampled_from(list(OnExcess))),
        draw(st.sampled_from(list(Precision))),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(PROTECTIONS),
        draw(BUDGETS),
        draw(st.dictionaries(WORDS, st.builds(Recipient, below), max_size=3)),
        draw(st.lists(AREAS, max_size=3)),
        draw(st.lists(AREAS, max_size=2)),
        PLACES,
        known,
        draw(st.sampled_from(list(OnUnreachable))),
    )
