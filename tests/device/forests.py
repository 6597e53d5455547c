"""The in-process twins: maps and forests that come from this process instead of a server."""

from __future__ import annotations

import functools
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field

from geocorgi.generate.privacy_forest import privacy_forest
from geocorgi.generate.privacy_forest_subtree import generate_subtree
from geocorgi.matrix.exponential import exponential_matrix
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.matrix.pruning import prune
from geocorgi.matrix.sealing import seal
from geocorgi.tree import distances
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
