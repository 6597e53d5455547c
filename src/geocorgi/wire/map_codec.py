"""The public map as bytes, and its name: the digest of these bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from geocorgi.errors import BadFile, InvalidInput, InvalidMessage
from geocorgi.tree.location_tree import MOST_LEAVES, LocationTree
from geocorgi.tree.priors import Priors
from geocorgi.wire import canonical
from geocorgi.wire.catalogue import entry_fields, entry_of
from geocorgi.wire.predicate import Predicate, predicate_fields, predicate_of
from geocorgi.wire.public_map import MOST_ENTRIES, PublicMap, Settings
from geocorgi.wire.shard import shard_fields, shard_from

FORMAT = "geocorgi public map 1"
MOST_BYTES = 64_000_000

MAP_FIELDS = {
    "attributes": canonical.is_object,
    "catalogue": canonical.is_list,
    "filters": canonical.is_object,
    "format": canonical.is_text,
    "height": canonical.is_whole,
    "leaf_resolution": canonical.is_whole,
    "priors": canonical.is_list,
    "roots": canonical.is_list,
    "settings": canonical.is_object,
    "shard": canonical.is_object_or_none,
    "targets": canonical.is_object_or_none,
}
FILTER_FIELDS = {"cells": canonical.is_list, "where": canonical.is_list_or_none}
SETTINGS_FIELDS = {
    "epsilons_per_km": canonical.is_list,
    "gap": canonical.is_real,
    "work": canonical.is_whole_or_none,
}
TARGETS_FIELDS = {"cells": canonical.is_list, "weights": canonical.is_list}


def encode_map(public_map: PublicMap) -> bytes:
    """Return the one sequence of bytes that stands for the map."""
    settings, targets = public_map.settings, public_map.targets
    return canonical.encoded(
        {
            "attributes": {n: row.tolist() for n, row in public_map.attributes.items()},
            "catalogue": [entry_fields(entry) for entry in public_map.catalogue],
            "filters": {name: _filter_fields(public_map, name) for name in public_map.filters},
            "format": FORMAT,
            "height": public_map.height,
            "leaf_resolution": public_map.leaf_resolution,
            "priors": public_map.priors.weights.tolist(),
            "roots": list(public_map.roots),
            "settings": {
                "epsilons_per_km": list(settings.epsilons_per_km),
                "gap": settings.gap,
                "work": settings.work,
            },
            "shard": shard_fields(public_map.shard),
            "targets": targets
            and {"cells": list(targets.cells), "weights": targets.weights.tolist()},
        }
    )


def _filter_fields(public_map: PublicMap, name: str) -> dict[str, Any]:
    where = public_map.predicates.get(name)
    return {
        "cells": list(public_map.filters[name]),
        "where": None if where is None else predicate_fields(where),
    }


def map_id(public_map: PublicMap) -> str:
    """Return the map's name: the SHA-256 of its bytes."""
    return canonical.digest(encode_map(public_map))


def decode_map(content: bytes) -> PublicMap:
    """Return the map in the bytes, or refuse them."""
    fields = canonical.message(content, MOST_BYTES, FORMAT, MAP_FIELDS)
    try:
        public_map = _decoded(fields)
    except InvalidMessage:
        raise
    except InvalidInput as refusal:
        raise InvalidMessage(f"a public map: {refusal}") from refusal
    # A cell in capitals or a zero below zero would give one map two digests.
    return canonical.require_same(public_map, encode_map(public_map), content, "a public map")


def read_map(path: Path) -> PublicMap:
    """Return the map in a file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadFile(f"{path.name} is larger than any map: {MOST_BYTES:,} bytes")
        return decode_map(path.read_bytes())
    except OSError as refusal:
        raise BadFile(f"cannot read {path.name}: {refusal.strerror}") from refusal
    except InvalidMessage as refusal:
        raise BadFile(f"{path.name}: {refusal}") from refusal


def _decoded(fields: Mapping[str, Any]) -> PublicMap:
    roots, height = _texts(fields["roots"], "roots"), fields["height"]
    leaves = _leaves(roots, height)
    if len(fields["catalogue"]) > MOST_ENTRIES:
        raise InvalidMessage(f"a catalogue has at most {MOST_ENTRIES:,} entries")
    filters = {
        name: canonical.require_fields(row, FILTER_FIELDS, "a filter of the map")
        for name, row in fields["filters"].items()
    }
    public_map = PublicMap(
        roots=roots,
        height=height,
        priors=Priors(leaves, _numbers(fields["priors"], "priors")),
        settings=_settings(fields["settings"]),
        catalogue=tuple(entry_of(entry, "a catalogue entry") for entry in fields["catalogue"]),
        targets=_targets(fields["targets"]),
        attributes={n: _numbers(row, "attributes") for n, row in fields["attributes"].items()},
        filters={name: _texts(row["cells"], "filters") for name, row in filters.items()},
        predicates=_predicates(filters),
        shard=shard_from(fields["shard"]),
    )
    if public_map.leaf_resolution != fields["leaf_resolution"]:
        raise InvalidMessage("a public map: 'leaf_resolution' is not that of the roots' leaves")
    return public_map


def _predicates(filters: Mapping[str, Mapping[str, Any]]) -> dict[str, Predicate]:
    return {
        name: predicate_of(row["where"])
        for name, row in filters.items()
        if row["where"] is not None
    }


def _leaves(roots: tuple[str, ...], height: int) -> tuple[str, ...]:
    """Return the leaves, counted before they are listed."""
    trees = [LocationTree(root, height) for root in roots]
    if sum(tree.count(0) for tree in trees) > MOST_LEAVES:
        raise InvalidMessage(f"a map has at most {MOST_LEAVES:,} leaves")
    return tuple(leaf for tree in trees for leaf in tree.leaves)


def _settings(fields: Any) -> Settings:
    found = canonical.require_fields(fields, SETTINGS_FIELDS, "the map's settings")
    epsilons = _numbers(found["epsilons_per_km"], "epsilons_per_km").tolist()
    return Settings(tuple(epsilons), found["gap"], found["work"])


def _targets(fields: Any) -> Priors | None:
    if fields is None:
        return None
    found = canonical.require_fields(fields, TARGETS_FIELDS, "the map's targets")
    return Priors(_texts(found["cells"], "targets"), _numbers(found["weights"], "targets"))


def _numbers(row: Any, what: str) -> Any:
    if not (isinstance(row, list) and all(isinstance(number, float) for number in row)):
        raise InvalidMessage(f"a public map: '{what}' is not a list of numbers")
    return np.array(row, dtype=np.float64)


def _texts(row: Any, what: str) -> tuple[str, ...]:
    if not (isinstance(row, list) and all(isinstance(text, str) for text in row)):
        raise InvalidMessage(f"a public map: '{what}' is not a list of texts")
    return tuple(row)
