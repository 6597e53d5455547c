"""The in-process twins: maps and forests that come from this process instead of a server."""

from __future__ import annotations

import functools
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from datetime import UTC, datetime

from geocorgi.device.attributes.values import Attributes
from geocorgi.device.budget import Charge, balance
from geocorgi.device.memory import Given, Terms
from geocorgi.device.preparation import Device
from geocorgi.device.secret import DeviceSecret
from geocorgi.generate.privacy_forest import privacy_forest
from geocorgi.generate.privacy_forest_subtree import generate_subtree
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import prune
from geocorgi.matrix.sealing import seal
from geocorgi.tree import cells, distances
from geocorgi.wire.forest_request import ForestRequest
from geocorgi.wire.map_codec import encode_map
from geocorgi.wire.public_map import PublicMap

remembered = functools.cache(generate_subtree)


class Inline(Executor):
    """Runs a task where it is submitted, each only once a session."""

    def submit(self, _function, task, /):
        future: Future[bytes] = Future()
        future.set_result(remembered(task))
        return future


def quick_forest(public_map: PublicMap, request: ForestRequest) -> PrivacyForest:
    """Return a forest of universal mechanisms: private whatever is pruned, and made at once."""
    matrices = {}
    for subtree in public_map.subtrees(request.privacy_level):
        leaves, table = subtree.leaves, distances.between_cells(subtree.leaves)
        square = exponential_matrix(leaves, table, request.epsilon_per_km)
        hidden = set(leaves) - set(public_map.reportable(request.filter, subtree))
        matrix = prune(square, hidden, Rows.KEEP) if hidden else square
        matrices[subtree.root] = seal(matrix, table, request.epsilon_per_km).matrix
    return PrivacyForest(
        request.map_id,
        request.privacy_level,
        request.filter,
        request.delta,
        request.rows,
        request.epsilon_per_km,
        matrices,
    )


def optimal_forest(public_map: PublicMap, request: ForestRequest) -> PrivacyForest:
    """Return what an honest server generates."""
    return privacy_forest(public_map, request, executor=Inline())


@dataclass
class InProcess:
    """Answers both questions, and keeps what it was asked."""

    served: PublicMap
    make: object = quick_forest
    asked: list[ForestRequest] = field(default_factory=list)

    def public_map(self) -> bytes:
        return encode_map(self.served)

    def forest(self, request: ForestRequest) -> bytes:
        self.asked.append(request)
        return made(self.make, self.served, request)


_MADE: dict[tuple[str, ForestRequest], bytes] = {}


def made(make, public_map: PublicMap, request: ForestRequest) -> bytes:
    key = (make.__name__, request)  # a request names its map by content
    if key not in _MADE:
        _MADE[key] = forest_bytes(make(public_map, request))
    return _MADE[key]


class Forgetful:
    """A memory that remembers nothing and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Terms] = []

    def report(self, _real_leaf: str, draw, terms: Terms) -> Given:
        self.asked.append(terms)
        drawn = draw()
        finer = cells.resolution_of(drawn) > terms.resolution
        cell = cells.ancestor(drawn, terms.resolution) if finer else drawn
        charge = Charge(datetime.now(UTC), terms.epsilon_per_km)
        return Given(
            cell, True, False, balance([charge], terms.budget, charge.time, 1.0), terms.keeps
        )


class InMind(dict):
    """Verdicts that last as long as this process."""

    def known(self, sha256: str, request: bytes) -> str | None:
        return self.get((sha256, request))

    def remember(self, sha256: str, request: bytes, verdict: str) -> None:
        self[sha256, request] = verdict


SECRET = DeviceSecret(b"s" * 32)
VERDICTS = InMind()


def device_on(public_map: PublicMap, make=quick_forest, known: Attributes | None = None) -> Device:
    """Return a device that meets its server in this process."""
    source = InProcess(public_map, make)
    attributes = lambda _policy, _map: known or {}  # noqa: E731
    return Device(source, source, Forgetful(), SECRET, attributes, verdicts=VERDICTS)
