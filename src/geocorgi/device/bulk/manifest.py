"""What a release promises, beside it as JSON: for whoever uses it, and for whoever checks it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import geocorgi
from geocorgi.device.bulk.job import Job
from geocorgi.device.bulk.whole import Whole
from geocorgi.device.memory import Keeps, weakest
from geocorgi.device.preparation import Prepared
from geocorgi.files import write_atomically
from geocorgi.matrix.protection_radius import protection_radius_km
from geocorgi.matrix.prunable import Rows
from geocorgi.wire.forest_request import request_fields

FORMAT = "geocorgi release 1"
READ_AT_ONCE = 1 << 20


def manifest_path(out: Path) -> Path:
    """Return where the manifest of a release lies."""
    return out.with_name(f"{out.name}.manifest.json")


def write_manifest(out: Path, job: Job, prepared: Prepared, whole: Whole) -> dict[str, Any]:
    """Write what holds of the release, and return it."""
    manifest = {
        "format": FORMAT,
        "version": geocorgi.__version__,
        "release": {"file": out.name, "sha256": _sha256(out)},
        "rows": whole.account,
        "guarantee": _guarantee(job, prepared, whole),
        "not_guaranteed": _not_guaranteed(job, prepared, whole),
    }
    write_atomically(manifest_path(out), json.dumps(manifest, indent=2).encode() + b"\n")
    return manifest


def _guarantee(job: Job, prepared: Prepared, whole: Whole) -> dict[str, Any]:
    selection, policy = prepared.selection, prepared.policy
    accepted = prepared.accepted
    kept = weakest([job.keeps, whole.heaviest.weakest]) or job.keeps
    epsilon, smaller = kept.epsilon_per_km, kept.area_resolution - job.keeps.area_resolution
    return {
        "definition": "geo-indistinguishability between leaves of one subtree, per draw",
        "epsilon_per_km": epsilon,
        "protection_radius_km": protection_radius_km(epsilon),
        "mechanism": str(selection.mechanism),
        "forest_sha256": None if accepted is None else accepted.sha256,
        "request": request_fields(selection.request) | {"rows": str(selection.request.rows)},
        "privacy_level": policy.privacy_level - smaller,
        "precision_level": policy.precision_level,
        "removed_leaves": len(selection.never_reported),
        "one_draw_for": "a user and a leaf in all releases of a memory while its cell may leave",
        "users_with_draws": whole.heaviest.users,
        "most_draws_of_a_user": whole.heaviest.draws,
        "composed_epsilon_per_km_of_that_user": whole.heaviest.epsilon_per_km,
        "ceiling_per_km": job.budget.ceiling_per_km,
        "ceiling_period_hours": job.budget.period_hours,
    }


def _not_guaranteed(job: Job, prepared: Prepared, whole: Whole) -> list[str]:
    named = ", ".join(f"'{name}'" for name in job.keep) or "none"
    said = [
        f"The kept columns ({named}) leave as they are: what they tell of places is not covered.",
        "A row reveals the subtree that it was drawn in, and that it lies on the map.",
        "Draws of one user for different places compose: the sum over her places is what holds.",
        "Which rows of a user have the same cell tells that they may be from the same place.",
        "Rows that were withheld are counted here: the counts are exact and not protected.",
    ]
    said += _of_earlier_draws(job.keeps, whole.heaviest.weakest)
    if prepared.selection.request.rows is Rows.DROP:
        said.append("Every row proves that its user was in no removed place.")
    if job.buckets > 1:
        said.append("Rows stand by buckets of users, within a bucket in the order of the input.")
    return said


def _of_earlier_draws(now: Keeps, before: Keeps | None) -> Iterator[str]:
    """Yield what draws of earlier releases lack of what is drawn now."""
    if before is None:
        return
    holds = "The memory holds draws of earlier releases"
    if before.epsilon_per_km > now.epsilon_per_km:
        yield (
            f"{holds} at {before.epsilon_per_km:g} per km, and a replay keeps that: only what is "
            f"drawn now keeps {now.epsilon_per_km:g}."
        )
    if before.area_resolution > now.area_resolution:
        yield (
            f"{holds} within smaller subtrees, and a replay reveals which: only what is drawn now "
            "is hidden in all of its subtree."
        )
    if before.rows is Rows.DROP and now.rows is Rows.KEEP:
        yield (
            f'{holds} with rows = "drop", and a replay proves that its user was in no place that '
            "was removed then."
        )


def _sha256(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(READ_AT_ONCE):
            found.update(piece)
    return found.hexdigest()
