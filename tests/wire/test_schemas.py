"""The schemas accept what the codecs write, and refuse what they refuse for its shape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, ValidationError

from geocorgi.errors import InvalidInput
from geocorgi.wire import schemas
from geocorgi.wire.forest_request import encode_request
from tests.conftest import REPOSITORY
from tests.wire.test_forest_request import REQUESTS
from tests.wire.test_messages import MESSAGES

GOLDEN = REPOSITORY / "tests" / "golden"
SMALL = [name for name in schemas.MESSAGES if name != "public-map"]


def validator(message: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.schema(message))


@pytest.mark.parametrize("message", schemas.MESSAGES)
def test_every_schema_is_one_and_refuses_unknown_and_lacking_fields(message):
    Draft202012Validator.check_schema(schemas.schema(message))
    fields = json.loads((GOLDEN / f"{message}.json").read_bytes())
    for other in [fields | {"user": "me"}, fields | {"format": fields["format"] + "0"}] + [
        {key: value for key, value in fields.items() if key != name} for name in fields
    ]:
        with pytest.raises(ValidationError):
            validator(message).validate(other)


@pytest.mark.parametrize(
    ("name", "message"),
    [("forest-request-filter", "forest-request"), ("public-map-shard", "public-map")]
    + [(message, message) for message in schemas.MESSAGES],
)
def test_every_golden_message_is_valid(name, message):
    validator(message).validate(json.loads((GOLDEN / f"{name}.json").read_bytes()))


@pytest.mark.parametrize("message", [name for name in SMALL if name in MESSAGES])
@given(data=st.data())
def test_whatever_the_codec_writes_is_valid(message, data):
    kind = MESSAGES[message]
    validator(message).validate(json.loads(kind.encode(data.draw(kind.values))))


@given(REQUESTS)
def test_every_request_is_valid(request_):
    validator("forest-request").validate(json.loads(encode_request(request_)))


def test_every_message_of_the_page_has_a_schema():
    page = (REPOSITORY / "docs" / "wire.md").read_text(encoding="utf-8")
    for message in schemas.MESSAGES:
        assert f"| `{schemas.schema(message)['properties']['format']['const']}` |" in page


def test_there_is_no_other_schema():
    with pytest.raises(InvalidInput, match="map-index"):
        schemas.schema("../canonical")
