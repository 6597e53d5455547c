"""The privacy forest: a certified matrix for every subtree of a privacy level (Paper: Alg. 3).

Subtrees are independent. They run on any ``concurrent.futures.Executor``; by default on worker
processes, one for each core. Whatever runs them, the forest is the same bytes: each matrix stops
on its gap or its work, never on the clock, and linear algebra runs on one thread. (Machines of
another kind may round differently; one forest is made on machines of one kind.)

There is no half of a forest. With a folder to work in, subtrees that are finished are kept there,
and a run that was killed goes on from them; a subtree that fails is named when all others are done.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from geocorgi.errors import GeocorgiError, InvalidMessage, SubtreeFailed
from geocorgi.generate.privacy_forest_folder import keep, kept
from geocorgi.generate.privacy_forest_subtree import SubtreeTask, result_of, task_of
from geocorgi.generate.privacy_forest_workers import (
    Outcome,
    Outcomes,
    on_executor,
    on_processes,
)
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.wire.forest_request import ForestRequest
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.public_map import PublicMap

MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class SubtreeDone:
    """One more subtree is finished; ``reused`` if an earlier run had finished it."""

    root: str
    done: int
    subtrees: int
    reused: bool


Progress = Callable[[SubtreeDone], None]


def privacy_forest(
    public_map: PublicMap,
    request: ForestRequest,
    *,
    executor: Executor | None = None,
    work_folder: Path | None = None,
    on_progress: Progress | None = None,
) -> PrivacyForest:
    """Return the forest of the request, every matrix sealed and certified, or raise.

    Without an executor, worker processes run the subtrees, as many as there are cores. An executor
    that is lent must not deliver Ctrl-C to its tasks.
    """
    require_offered(public_map, request)
    tasks = [
        task_of(public_map, request, subtree)
        for subtree in public_map.subtrees(request.privacy_level)
    ]
    run = _Run(len(tasks), work_folder, on_progress)
    remaining = [task for task in tasks if not run.has(task)]
    with closing(_outcomes(executor, remaining)) as outcomes:
        for outcome in outcomes:
            run.take(outcome)
    if run.failures:
        raise _failed(run.failures, len(tasks))
    return _joined(request, run.trees)


@dataclass(slots=True)
class _Run:
    """What is finished, and what has failed."""

    subtrees: int
    work_folder: Path | None
    on_progress: Progress | None
    trees: dict[str, PrivacyForest] = field(default_factory=dict)
    failures: dict[str, BaseException] = field(default_factory=dict)

    def has(self, task: SubtreeTask) -> bool:
        """Return whether an earlier run has finished the task; if so, take its result."""
        content = None if self.work_folder is None else kept(self.work_folder, task.key)
        if content is not None:
            self._done(task, content, reused=True)
        return content is not None

    def take(self, outcome: Outcome) -> None:
        if outcome.content is None:
            failure = outcome.failure or SubtreeFailed("no reason given")
            self.failures[outcome.task.root] = failure
            return
        if self.work_folder is not None:
            keep(self.work_folder, outcome.task.key, outcome.content)
        self._done(outcome.task, outcome.content, reused=False)

    def _done(self, task: SubtreeTask, content: bytes, *, reused: bool) -> None:
        self.trees[task.root] = result_of(task, content)
        if self.on_progress is not None:
            self.on_progress(SubtreeDone(task.root, len(self.trees), self.subtrees, reused))


def require_offered(public_map: PublicMap, request: ForestRequest) -> None:
    """Refuse a request that is not for an entry of this map's catalogue."""
    if request.map_id != map_id(public_map):
        raise InvalidMessage("the request is for another map")
    if request.entry not in public_map.catalogue:
        raise InvalidMessage(
            "the map's catalogue does not offer that: ask for one of its entries, exactly"
        )


def _outcomes(executor: Executor | None, tasks: list[SubtreeTask]) -> Outcomes:
    if executor is not None:
        return on_executor(executor, tasks)
    return on_processes(min(_cores(), max(len(tasks), 1)), tasks)


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _failed(failures: dict[str, BaseException], subtrees: int) -> SubtreeFailed:
    named = [f"below {root}: {_reason(why)}" for root, why in sorted(failures.items())]
    more = f"; and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    failed = SubtreeFailed(
        f"{len(named)} of {subtrees} subtrees have no matrix, so there is no forest: "
        f"{'; '.join(named[:MOST_NAMED])}{more}"
    )
    failed.__cause__ = next(iter(failures.values()))
    return failed


def _reason(failure: BaseException) -> str:
    return str(failure) if isinstance(failure, GeocorgiError) else type(failure).__name__


def _joined(request: ForestRequest, trees: dict[str, PrivacyForest]) -> PrivacyForest:
    return PrivacyForest(
        map_id=request.map_id,
        privacy_level=request.privacy_level,
        filter=request.filter,
        delta=request.delta,
        rows=request.rows,
        epsilon_per_km=request.epsilon_per_km,
        matrices={root: tree.matrices[root] for root, tree in trees.items()},
        certificates={root: tree.certificates[root] for root, tree in trees.items()},
    )
