"""The service keeps what its OpenAPI says, whatever it is sent; asked by schemathesis."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode

from tests.server.running import Asked, running_here
from tests.server.stores import ID, NAMES, fill

ROUTES = (
    "/v1/map",
    "/v1/maps/{map_id}/map.json",
    "/v1/maps/{map_id}/pins.json",
    "/v1/maps/{map_id}/forests/{request_id}/pin.json",
    "/v1/maps/{map_id}/forests/{request_id}/{sha256}.safetensors",
    "/health",
    "/ready",
    "/metrics",
)
# What has no parameter cannot be asked wrongly.
ASKED = [
    (route, mode)
    for route in ROUTES
    for mode in GenerationMode
    if "{" in route or mode is GenerationMode.POSITIVE
]


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("filled")
    fill(folder / "store")
    with running_here(folder / "store", folder / "state") as found:
        yield found


@pytest.fixture(scope="module")
def api(server):
    return schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")


@pytest.mark.parametrize(("route", "mode"), ASKED, ids=str)
@settings(
    max_examples=20, phases=[Phase.explicit, Phase.generate], deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(data=st.data())
def test_whatever_is_asked_the_answer_is_as_described(route, mode, data, api, server):
    case = data.draw(api[route]["GET"].as_strategy(generation_mode=mode))
    case.call_and_validate()
    assert server.metric("geocorgi_builds_waiting") == 0


@pytest.mark.parametrize("route", ROUTES)
def test_what_is_there_is_as_described(route, api):
    names = {"map_id": ID, "request_id": NAMES[0], "sha256": "0" * 64}
    operation = api[route]["GET"]
    asked = {name: value for name, value in names.items() if f"{{{name}}}" in route}
    answer = operation.Case(path_parameters=asked).call_and_validate()
    assert answer.status_code == (404 if "sha256" in asked else 200)


def test_the_description_names_every_route_and_no_other(server):
    described = json.loads(server.get("openapi.json").content)
    assert set(described["paths"]) == set(ROUTES)
    assert {method for path in described["paths"].values() for method in path} == {"get"}
