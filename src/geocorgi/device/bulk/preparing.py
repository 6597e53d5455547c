"""From a prepared device to a job: accepted and pruned matrices for every subtree, and its name."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import geocorgi
from geocorgi.checkins.layouts import Columns
from geocorgi.device.bulk.bucket import MECHANISM
from geocorgi.device.bulk.job import (
    KINDS,
    MOST_BUCKETS,
    Job,
    columns_to_read,
    require_kind,
)
from geocorgi.device.bulk.mechanism import has_mechanism, write_mechanism
from geocorgi.device.bulk.suitable import require_suitable
from geocorgi.device.bulk.whole import OUT_KINDS
from geocorgi.device.customising import pruned
from geocorgi.device.data_folder import private_folder
from geocorgi.device.memory import Keeps
from geocorgi.device.preparation import Prepared
from geocorgi.errors import BadFile, InvalidInput
from geocorgi.wire.canonical import digest
from geocorgi.wire.forest_request import request_fields

FOLDER = re.compile(r"\d{4}-of-(\d{4})")


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked of a release beside its policy; ``buckets`` None for as many as there are.

    Where there are none yet, the usual number.
    """

    source: Path
    out: Path
    columns: Columns
    keep: tuple[str, ...]
    memories: Path
    buckets: int | None = None
    usual_buckets: int = 1

    @property
    def work(self) -> Path:
        """Where what is done is kept until all is."""
        return self.out.with_name(f".{self.out.name}.work")


def require_wish(wish: Wish) -> None:
    """Refuse early what could not be released."""
    require_kind(wish.source, KINDS)
    require_kind(wish.out, OUT_KINDS)
    columns_to_read(wish.columns, wish.keep)
    if not wish.source.is_file():
        raise BadFile(f"{wish.source.name} is no file that can be read")
    if not wish.out.parent.is_dir():
        raise BadFile(f"cannot write {wish.out.name}: its folder does not exist")
    if wish.out.exists() and wish.out.samefile(wish.source):
        raise InvalidInput("a release does not replace what it is made of: name another file")


def job_of(wish: Wish, prepared: Prepared) -> Job:
    """Return the job, with its mechanism on the disk."""
    policy, public_map = require_suitable(prepared.policy), prepared.public_map
    resolution = public_map.leaf_resolution - policy.precision_level
    buckets = _buckets(wish)
    run = _name(wish, prepared, buckets)
    work = private_folder(wish.work) / run[:16]
    job = Job(
        source=wish.source.resolve(),
        columns=columns_to_read(wish.columns, wish.keep),
        keep=wish.keep,
        work=private_folder(work).resolve(),
        memories=private_folder(wish.memories).resolve(),
        buckets=buckets,
        keeps=keeps_of(prepared),
        resolution=resolution,
        budget=policy.budget,
        run=run,
    )
    if not has_mechanism(job.work / MECHANISM):
        subtrees = public_map.subtrees(policy.privacy_level)
        matrices = ((one.root, pruned(prepared, prepared.selection, one)) for one in subtrees)
        removed = prepared.selection.never_reported
        write_mechanism(job.work / MECHANISM, matrices, public_map.leaves, removed)
    return job


def keeps_of(prepared: Prepared) -> Keeps:
    """Return what a fresh draw keeps."""
    request = prepared.selection.request
    area = prepared.public_map.leaf_resolution - request.privacy_level
    return Keeps(request.epsilon_per_km, area, request.rows)


def _name(wish: Wish, prepared: Prepared, buckets: int) -> str:
    """Return the name of this very release: of its input's identity, its terms, not its rows."""
    known = wish.source.stat()
    accepted = prepared.accepted
    said = {
        "version": geocorgi.__version__,
        "source": [wish.source.name, known.st_size, known.st_mtime_ns],
        "columns": list(wish.columns.present().items()),
        "keep": list(wish.keep),
        "buckets": buckets,
        "request": request_fields(prepared.selection.request),
        "forest": None if accepted is None else accepted.sha256,
        "mechanism": prepared.selection.mechanism,
        "precision_level": prepared.policy.precision_level,
        "budget": [prepared.policy.budget.ceiling_per_km, prepared.policy.budget.period_hours],
        "removed": sorted(prepared.selection.never_reported),
    }
    return digest(json.dumps(said, sort_keys=True).encode())


def _buckets(wish: Wish) -> int:
    """Return how many buckets: a memory that exists keeps its number, for users must not move."""
    names = [path.name for path in wish.memories.iterdir()] if wish.memories.is_dir() else []
    there = {int(found[1]) for found in map(FOLDER.fullmatch, names) if found}
    if len(there) > 1:
        raise BadFile("the memory holds buckets of two kinds: it is not one that this wrote")
    usual = next(iter(there), wish.usual_buckets)
    wanted = usual if wish.buckets is None else wish.buckets
    if there and there != {wanted}:
        raise InvalidInput(
            f"this memory has {there.pop()} buckets of users, not {wanted}: leave --buckets out"
        )
    if not 1 <= wanted <= MOST_BUCKETS:
        raise InvalidInput(f"there are 1 to {MOST_BUCKETS:,} buckets of users")
    return wanted
