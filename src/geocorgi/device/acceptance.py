"""Nothing of a forest is used before the device has checked all of it (Paper: §5.2, step 5).

The server is not trusted: it could send the identity matrix and read the location off the report.
So a forest is accepted only if it is what was asked for, of the map that was asked about, and keeps
what it promises over distances that are computed here: all-pairs Geo-Ind by the exact auditor, and
δ-prunability by the exact certificate (Paper: Def. 2.1, Def. 4.2).

The verdict is a function of public bytes alone. It looks at every subtree's matrix, whichever the
user is in and whatever she removes, and it is the same the next time: otherwise a server could
poison one matrix and watch for the refusal. The first fault found is named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from geocorgi.device.verdicts import Verdicts
from geocorgi.errors import ForestRefused, InvalidForest, InvalidMatrix
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.forest_file import LARGEST_FILE_BYTES, LARGEST_HEADER_BYTES, forest_from_bytes
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.prunable import certify, own_columns
from geocorgi.matrix.sealed import LARGEST_WEIGHT, SealedMatrix
from geocorgi.tree import distances
from geocorgi.wire import canonical
from geocorgi.wire.forest_request import ForestRequest, encode_request
from geocorgi.wire.public_map import PublicMap

Progress = Callable[[int, int], None]
HOLDS = "holds"


class Fault(StrEnum):
    """Why a forest is refused."""

    MALFORMED = "malformed"
    TOO_LARGE = "too large"
    OTHER_MAP = "of another map"
    OTHER_REQUEST = "not what was asked for"
    OTHER_CELLS = "over other cells"
    ZERO_ENTRY = "with an entry of zero"
    NOT_PRIVATE = "not geo-indistinguishable"
    NOT_PRUNABLE = "not prunable as promised"


@dataclass(frozen=True, slots=True)
class Accepted:
    """A forest that has been checked, and the name of its bytes."""

    forest: PrivacyForest
    sha256: str


def accept(
    content: bytes,
    public_map: PublicMap,
    request: ForestRequest,
    verdicts: Verdicts | None = None,
    on_progress: Progress | None = None,
) -> Accepted:
    """Return the forest in the bytes if it keeps every promise of the request, or refuse it."""
    if len(content) > most_bytes(public_map, request):
        raise _refused(Fault.TOO_LARGE, "it has more bytes than the map's cells allow")
    try:
        forest = forest_from_bytes(content)
    except InvalidForest as damage:
        raise _refused(Fault.MALFORMED, str(damage)) from damage
    _require_asked(forest, request)
    _require_cells(forest, public_map, request)
    _require_total(forest)
    accepted = Accepted(forest, canonical.digest(content))
    asked = encode_request(request)
    verdict = None if verdicts is None else verdicts.known(accepted.sha256, asked)
    if verdict is None:
        verdict = _judged(forest, on_progress or _silently)
        if verdicts is not None:
            verdicts.remember(accepted.sha256, asked, verdict)
    if verdict != HOLDS:
        raise ForestRefused(verdict)
    return accepted


def most_bytes(public_map: PublicMap, request: ForestRequest) -> int:
    """Return how many bytes an honest answer has at most: what a transport may read."""
    weights = sum(
        subtree.count(0) * len(public_map.reportable(request.filter, subtree))
        for subtree in public_map.subtrees(request.privacy_level)
    )
    return min(8 * weights + LARGEST_HEADER_BYTES + 8, LARGEST_FILE_BYTES)


def _require_asked(forest: PrivacyForest, request: ForestRequest) -> None:
    if forest.map_id != request.map_id:
        raise _refused(Fault.OTHER_MAP, "its map_id is not that of the map at hand")
    for name in ("privacy_level", "filter", "delta", "rows", "epsilon_per_km"):
        if getattr(forest, name) != getattr(request, name):
            raise _refused(Fault.OTHER_REQUEST, f"its {name} is another one")


def _require_cells(forest: PrivacyForest, public_map: PublicMap, request: ForestRequest) -> None:
    subtrees = public_map.subtrees(request.privacy_level)
    if list(forest.matrices) != [subtree.root for subtree in subtrees]:
        raise _refused(Fault.OTHER_CELLS, "its subtrees are not those of the map's level")
    for subtree in subtrees:
        matrix = forest.matrices[subtree.root]
        if matrix.row_cells != subtree.leaves or matrix.level != 0:
            raise _refused(Fault.OTHER_CELLS, f"below {subtree.root} the rows are not the leaves")
        if matrix.column_cells != public_map.reportable(request.filter, subtree):
            raise _refused(
                Fault.OTHER_CELLS, f"below {subtree.root} the columns are not what passes"
            )
        if not matrix.weights.all():
            raise _refused(Fault.ZERO_ENTRY, f"below {subtree.root}; each is at least one unit")


def _require_total(forest: PrivacyForest) -> None:
    """Refuse rows that could not be added up: only below some subtrees would too much be left."""
    if forest.total > LARGEST_WEIGHT:
        raise _refused(Fault.TOO_LARGE, "its rows sum to more than 2^62")


def _judged(forest: PrivacyForest, on_progress: Progress) -> str:
    """Return that every matrix holds, or which fault was found first."""
    for done, (root, matrix) in enumerate(forest.matrices.items(), start=1):
        if fault := _fault(root, matrix, forest):
            return str(fault)
        on_progress(done, len(forest.matrices))
    return HOLDS


def _fault(root: str, matrix: SealedMatrix, forest: PrivacyForest) -> ForestRefused | None:
    epsilon, table = forest.epsilon_per_km, distances.between_cells(matrix.row_cells)
    verdict = audit(matrix, table, epsilon)
    if not verdict.holds:
        needed = f"{verdict.smallest_epsilon_per_km:.9g} per km where {epsilon:g} was asked for"
        return _refused(Fault.NOT_PRIVATE, f"the matrix below {root} needs {needed}")
    own = own_columns(matrix.row_cells, matrix.column_cells)
    try:
        pruned = certify(matrix.weights, table, epsilon, forest.delta, forest.rows, own)
    except InvalidMatrix as refusal:
        return _refused(Fault.NOT_PRUNABLE, f"below {root}: {refusal}")
    if not pruned.holds:
        needed = f"{pruned.smallest_epsilon_per_km:.9g} per km after pruning {forest.delta} cells"
        return _refused(Fault.NOT_PRUNABLE, f"the matrix below {root} needs {needed}")
    return None


def _refused(fault: Fault, sentence: str) -> ForestRefused:
    return ForestRefused(f"the server's forest is refused, {fault}: {sentence}")


def _silently(_done: int, _of: int) -> None:
    """Tell nobody."""
