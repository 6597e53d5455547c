"""One subtree's matrix as a task: plain data in, bytes out, the same bytes wherever it runs.

The task holds all that the matrix depends on, so its key (the digest of the task and of this
version) names the result. Linear algebra runs on one thread: with more, sums are split by the
number of cores, and their last digits with them. Nothing is limited by the clock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import numpy as np
from threadpoolctl import threadpool_limits

import geocorgi
from geocorgi.errors import GenerationFailed
from geocorgi.generate.optimum.column_generation import Limits
from geocorgi.generate.problem import problem_on_cells
from geocorgi.generate.robust import robust
from geocorgi.matrix.forest import PrivacyForest
from geocorgi.matrix.forest_file import forest_bytes, forest_from_bytes
from geocorgi.matrix.prunable import Rows
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import Priors
from geocorgi.wire import canonical
from geocorgi.wire.forest_request import ForestRequest
from geocorgi.wire.public_map import PublicMap

Weighted = tuple[tuple[str, ...], tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class SubtreeTask:
    """All that a subtree's matrix depends on."""

    root: str
    height: int
    weights: tuple[float, ...]
    targets: Weighted | None
    reportable: tuple[str, ...]
    filter: str | None
    delta: int
    rows: str
    epsilon_per_km: float
    gap: float
    work: int | None

    @property
    def key(self) -> str:
        """The name of the result by all that it depends on."""
        version = {"version": geocorgi.__version__, "task": asdict(self)}
        return canonical.digest(canonical.encoded(version))


def task_of(public_map: PublicMap, request: ForestRequest, subtree: LocationTree) -> SubtreeTask:
    """Return the task of a subtree (Paper: Alg. 3, steps 5 to 7)."""
    targets, settings = public_map.targets, public_map.settings
    return SubtreeTask(
        root=subtree.root,
        height=subtree.height,
        weights=tuple(public_map.priors_below(subtree).weights.tolist()),
        targets=None if targets is None else (targets.cells, tuple(targets.weights.tolist())),
        reportable=public_map.reportable(request.filter, subtree),
        filter=request.filter,
        delta=request.delta,
        rows=request.rows.value,
        epsilon_per_km=request.epsilon_per_km,
        gap=settings.gap,
        work=settings.work,
    )


def generate_subtree(task: SubtreeTask) -> bytes:
    """Return the subtree's sealed and certified matrix: a forest of one, under the task's key.

    Paper: Alg. 3, step 8.
    """
    leaves = LocationTree(task.root, task.height).leaves
    targets = None if task.targets is None else Priors(task.targets[0], np.array(task.targets[1]))
    problem = problem_on_cells(
        leaves,
        task.epsilon_per_km,
        Priors(leaves, np.array(task.weights)),
        targets,
        task.reportable,
    )
    with _one_thread():
        found = robust(problem, task.delta, Rows(task.rows), Limits(task.gap, task.work))
    certificate = {
        "holds": found.certificate.holds,
        "loss_km": found.loss_km,
        "lower_bound_km": found.lower_bound_km,
        "method": found.method,
        "smallest_epsilon_per_km": found.certificate.smallest_epsilon_per_km,
    }
    forest = PrivacyForest(
        map_id=task.key,
        privacy_level=task.height,
        filter=task.filter,
        delta=task.delta,
        rows=Rows(task.rows),
        epsilon_per_km=task.epsilon_per_km,
        matrices={task.root: found.sealed},
        certificates={task.root: certificate},
    )
    return forest_bytes(forest)


def result_of(task: SubtreeTask, content: bytes) -> PrivacyForest:
    """Return the forest of one that the bytes hold, if it is the task's."""
    forest = forest_from_bytes(content)
    if forest.map_id != task.key or tuple(forest.matrices) != (task.root,):
        raise GenerationFailed(f"a result came back for another task than that below {task.root}")
    matrix = forest.matrices[task.root]
    leaves = LocationTree(task.root, task.height).leaves
    if (matrix.row_cells, matrix.column_cells) != (leaves, task.reportable):
        raise GenerationFailed(f"the matrix below {task.root} is not one of its leaves")
    return forest


_limiting = threading.Lock()
_limited: list[threadpool_limits] = []
_inside = 0


@contextmanager
def _one_thread() -> Iterator[None]:
    """Hold linear algebra to one thread while any task of this process runs."""
    global _inside  # noqa: PLW0603 - the libraries' thread counts are the process's, so is this
    with _limiting:
        if not _inside:
            _limited.append(threadpool_limits(limits=1))
        _inside += 1
    try:
        yield
    finally:
        with _limiting:
            _inside -= 1
            if not _inside:
                _limited.pop().restore_original_limits()
