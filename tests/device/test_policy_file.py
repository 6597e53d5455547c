"""A policy in a file: what is written is what is read, and what is wrong is named by its line."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocorgi.device.areas import Around, ListedCells, Place, Polygon
from geocorgi.device.policy import (
    AtCeiling,
    Budget,
    OnExcess,
    Policy,
    Precision,
    Protection,
    Recipient,
)
from geocorgi.device.policy_file import parse_policy, read_policy
from geocorgi.device.policy_text import policy_toml
from geocorgi.device.preferences import Operator, Preference, Unknown
from geocorgi.device.sources import Source
from geocorgi.device.units import Kind
from geocorgi.errors import BadFile, GeocorgiError, InvalidPolicy
from geocorgi.matrix.prunable import Rows
from tests.device.policies import policies
from tests.wire.maps import small_map

RING = [[-122.4, 37.7], [-122.3, 37.7], [-122.3, 37.8], [-122.4, 37.7]]
AREA = {"type": "Polygon", "coordinates": [RING]}
WHOLE = """\
# what may be said of me
privacy_level = 3
precision_level = 1
rows = "drop"
on_excess = "fewer"
on_unreachable = "universal"
precision = "average"
decoys = true
preferences = [
    "home = False",   # never mine
    { rule = "traffic != 'heavy, slow'", unknown = "remove", private = true },

    "distance from", # replaced below
    "temperature ≥ -3.5 °C",
]
black_list = ["89283082803ffff"]

[protection]
radius = "500 m"

[budget]
ceiling_per_km = 60
period = "2 days"
at_ceiling = "repeat"

[recipient.weather]
precision_level = 2

[place.gym]
latitude = 37.77
longitude = -122.42

[[white_list]]
place = "gym"
radius = "2 miles"

[[white_list]]
geojson = "park.geojson"

[source.traffic]
kind = "category"
url = "https://traffic.example/cells"
time_to_live = "15 minutes"
""".replace('"distance from", # replaced below', '"distance <= 5 miles from gym",')


def test_every_part_has_its_place(tmp_path):
    (tmp_path / "park.geojson").write_text(json.dumps(AREA), "utf-8")
    (tmp_path / "mine.toml").write_text(WHOLE, "utf-8")
    policy = read_policy(tmp_path / "mine.toml")
    assert policy == Policy(
        3,
        1,
        (
            Preference("home", Operator.EQUAL, False),
            Preference("traffic", "≠", "heavy, slow", unknown=Unknown.REMOVE, private=True),
            Preference("distance", "≤", 5.0, "miles", origin="gym"),
            Preference("temperature", "≥", -3.5, "°C"),
        ),
        Rows.DROP,
        OnExcess.FEWER,
        Precision.AVERAGE,
        decoys=True,
        protection=Protection(None, 0.5),
        budget=Budget(48, 60.0, AtCeiling.REPEAT),
        recipients={"weather": Recipient(2)},
        black_list=(ListedCells(("89283082803ffff",)),),
        white_list=(Around("gym", 2 * 1.609344), Polygon(json.dumps(AREA))),
        places={"gym": Place(37.77, -122.42)},
        sources={
            "traffic": Source(
                Kind.CATEGORY,
                url="https://traffic.example/cells",
                time_to_live=timedelta(minutes=15),
            )
        },
        on_unreachable="universal",
    )
    assert [one.line for one in policy.preferences] == [10, 11, 13, 14]
    assert [area.line for area in (*policy.black_list, *policy.white_list)] == [16, 33, 37]
    assert policy.precision_for("weather") == 2
    assert policy.precision_for("anybody") == policy.precision_for(None) == 1


def test_the_least_policy_has_the_usual_values():
    policy = parse_policy("privacy_level = 2")
    assert policy == Policy(2, 0)
    assert policy.rows is Rows.KEEP
    assert policy.on_excess is OnExcess.UNIVERSAL
    assert policy.precision is Precision.COARSEN
    assert policy.preferences == ()
    assert policy_toml(policy) == "privacy_level = 2\nprecision_level = 0\n"


@settings(max_examples=60)
@given(policies())
def test_reading_what_is_written_gives_the_same_policy(policy):
    assert parse_policy(policy_toml(policy)) == policy


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("precision_level = 0", "privacy_level is missing"),
        ("privacy_level = 2\nprecision_level = 2", "line 2: precision_level 2 is not below"),
        ("privacy_level = 2\n\nprecision_level = 3", "line 3: precision_level 3 is not below"),
        ("privacy_level = 99\nprecision_level = 0", "whole number from 0 to 15"),
        ("privacy_level = 2.5", "line 1: privacy_level is a whole number"),
        ("privacy_level = true", "line 1: privacy_level is a whole number"),
        ("privacy_level = 2\nrowz = 'keep'", "line 2: .*did you mean 'rows'"),
        ("privacy_level = 2\nrows = 'some'", "line 2: rows is one of drop, keep"),
        (
            "privacy_level = 2\non_excess = 7",
            "line 2: on_excess is one of universal",
        ),
        ("privacy_level = 2\ndecoys = 'yes'", "line 2: decoys is true or false"),
        ("privacy_level = ", "line 1: this is not TOML"),
        ("privacy_level = 2\nrows = ", "line 2: this is not TOML"),
        ("privacy_level = 2\npreferences = 3", "line 2: preferences is a list"),
        ("privacy_level = 2\npreferences = [\n3]", "line 3: an entry of preferences"),
        ("privacy_level = 2\npreferences = [\n\n'home']", "line 4: a preference is a variable"),
        ("privacy_level = 2\npreferences = [\n'hoem = True']", "line 3: .*variable 'hoem'"),
        ("privacy_level = 2\npreferences = ['home < True']", "line 2: '<' compares numbers"),
        ("privacy_level = 2\npreferences = ['weather > rain']", "line 2: '>' compares numbers"),
        ("privacy_level = 2\npreferences = ['home = 5']", "line 2: 'home' is compared with True"),
        ("privacy_level = 2\npreferences = ['distance < 5']", "line 2: 'distance' is compared"),
        ("privacy_level = 2\npreferences = ['distance < 5 h']", "line 2: .*one of m, km, miles"),
        ("privacy_level = 2\npreferences = ['distance < 5 rods']", "line 2: a unit is one of"),
        ("privacy_level = 2\npreferences = ['weather = very bad']", "line 2: .*stands in quotes"),
        ("privacy_level = 2\npreferences = ['distance < 5 km from x']", "line 2: .*no place 'x'"),
        ("privacy_level = 2\npreferences = ['home = True from me']", "line 2: only a distance"),
        (
            "privacy_level = 2\npreferences = [{ rule = 'home = True', un = 'x' }]",
            "line 2: .*known: rule",
        ),
        ("privacy_level = 2\npreferences = [\n{ unknown = 'keep' }]", "line 3: rule is a text"),
        (
            "privacy_level = 2\n[[preferences]]\nrule = 'home = True'\nunknown = 'perhaps'",
            "line 4: unknown is one of keep, remove, refuse",
        ),
        ("privacy_level = 2\n[protection]", "line 2: epsilon_per_km is a number"),
        ("privacy_level = 2\n[protection]\nradius = '5 °C'", "line 3: radius is a length"),
        ("privacy_level = 2\n[protection]\nradius = 500", "line 3: radius is a length in quotes"),
        (
            "privacy_level = 2\n[protection]\nleast_area_km2 = '1'",
            "line 3: least_area_km2 is a num",
        ),
        (
            "privacy_level = 2\n[protection]\nleast_area_km2 = -1",
            "line 2: least_area_km2 is an area",
        ),
        ("privacy_level = 2\n[protection]\nepsilon_per_km = -1", "line 2: epsilon is above 0"),
        (
            "privacy_level = 2\n[protection]\nepsilon_per_km = 1\nradius = '1 km'",
            "line 2: protection is either",
        ),
        ("privacy_level = 2\n[budget]\nperiod = '0 h'", "line 2: a period is a time"),
        ("privacy_level = 2\n[budget]\nperiod = '1e300 days'", "line 3: period is too long"),
        ("privacy_level = 2\n[budget]\nat_ceiling = 'some'", "line 3: at_ceiling is one of"),
        ("privacy_level = 2\n[recipient.a]\nprecision_level = 2", "line 2: precision_level 2 is"),
        ("privacy_level = 2\n[recipient.a]\nplace = 'gym'", "line 3: .*known: precision_level"),
        ("privacy_level = 2\nrecipient = 5", "line 2: recipient is a table"),
        ("privacy_level = 2\n[place.x]\nlatitude = 95\nlongitude = 0", "line 2: the point is not"),
        ("privacy_level = 2\nblack_list = ['nowhere']", "line 2: .* not an H3 cell"),
        ("privacy_level = 2\n[[black_list]]\nplace = 'x'\nradius = '1 km'", r"line 2: .*\[place.x"),
        ("privacy_level = 2\n[[black_list]]\nradius = '1 km'", "line 2: an area is either"),
        ("privacy_level = 2\n[[white_list]]\ngeojson = 'none.json'", "line 3: cannot read none.js"),
        ("privacy_level = 2\n[[white_list]]\ngeojson = '{'", "line 2: the area is not valid JSON"),
        ("privacy_level = 2\n[source.x]\nkind = 'colour'", "line 3: kind is one of boolean"),
        ("privacy_level = 2\n[source.x]\nkind = 'number'", "line 2: .*either a table or a url"),
        ("privacy_level = 2\n[source.x]\nkind = 'number'\nurl = 'ftp://x'", "line 2: .*https"),
        ("<privacy_l = 2>", "line 1: expected <privacy_l"),
        ("<privacy_l = 2, precision_l = 2, user_preferences = []>", "line 1: precision_level 2"),
        ("<privacy_l = 2,\nprecision_l = 0,\npreferences = [home = 1]>", "line 3: 'home' is"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(tmp_path, text, says):
    with pytest.raises(InvalidPolicy, match=says):
        parse_policy(text, tmp_path)


def test_the_maps_variables_are_known_when_the_map_is():
    text = "privacy_level = 1\npreferences = ['popular_18 ≥ 3', 'even = True']"
    assert len(parse_policy(text, None, small_map()).preferences) == 2
    with pytest.raises(InvalidPolicy, match=r"line 2: .*\[source.popular_18\], or name the map"):
        parse_policy(text)


@pytest.mark.parametrize(
    "text",
    [
        "<privacy_l = 3, precision_l = 0, "
        'user_preferences = [popular = "True", distance ≤ 5 miles]>',
        "⟨privacy_level=3,precision_level=0,preferences=[popular=True,distance<=5miles]⟩",
        "\n< privacy_l = 3,\n precision_l = 0,\n user_preferences = [\n popular == “True”,\n"
        " distance <= 5.0 mi ]\n>\n",
        'privacy_level = 3\npreferences = """[popular = "True", distance ≤ 5 miles]"""',
        "privacy_level = 3\n[[preferences]]\nrule = 'popular=TRUE'\n[[preferences]]\n"
        "rule = 'distance ⩽ 5 mile'",
    ],
)
def test_the_papers_example_in_every_spelling(text):
    assert parse_policy(text) == Policy(
        3, 0, (Preference("popular", "=", True), Preference("distance", "≤", 5.0, "miles"))
    )


def test_lines_inside_the_notation_are_counted():
    policy = parse_policy(
        "<privacy_l=3,\nprecision_l=0,\npreferences=[\nhome=False,\n\noffice=False]>"
    )
    assert [one.line for one in policy.preferences] == [4, 6]


@settings(max_examples=300)
@given(st.text(max_size=80) | st.text("\"'[]{}=,.<>\n# ab1", max_size=40))
def test_noise_is_refused_and_nothing_else_happens(noise):
    for text in (
        noise,
        f"privacy_level = 2\n{noise}",
        f"privacy_level = 2\npreferences = [{noise}]",
    ):
        try:
            policy = parse_policy(text)
        except GeocorgiError:
            continue
        assert parse_policy(policy_toml(policy)) == policy


def test_files_are_bounded_and_named(tmp_path):
    (tmp_path / "long.toml").write_text("#" * 2_000_001)
    (tmp_path / "latin.toml").write_bytes("privacy_level = 2 # é".encode("latin-1"))
    for name in ("long.toml", "latin.toml", "none.toml"):
        with pytest.raises(BadFile, match=name):
            read_policy(tmp_path / name)
    with pytest.raises(InvalidPolicy):
        parse_policy("a = " + "[" * 100_000)
