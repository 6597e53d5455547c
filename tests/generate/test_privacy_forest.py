"""A forest is whole or not at all, and the same bytes whatever made it, however often it died."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest

from geocorgi.errors import InvalidMessage, SubtreeFailed
from geocorgi.generate.privacy_forest import SubtreeDone, privacy_forest
from geocorgi.generate.privacy_forest_folder import keep, kept
from geocorgi.generate.privacy_forest_subtree import SubtreeTask, generate_subtree, task_of
from geocorgi.generate.privacy_forest_workers import on_executor, on_processes
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.matrix.geo_ind import audit
from geocorgi.matrix.prunable import Rows, certify, own_columns
from geocorgi.tree import distances
from geocorgi.tree.location_tree import LocationTree
from geocorgi.tree.priors import uniform_priors
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_request import ForestRequest, request_for
from geocorgi.wire.map_codec import map_id
from geocorgi.wire.public_map import PublicMap, Settings
from tests.wire.maps import small_map

MAP = small_map(filters={})
ENTRY = CatalogueEntry(1, None, 2, Rows.DROP, 5.0)
REQUEST = request_for(map_id(MAP), ENTRY)
OPTIMAL = replace(REQUEST, delta=0)  # quickly made
ROOTS = [subtree.root for subtree in MAP.subtrees(1)]


remembered = functools.cache(generate_subtree)


class Inline(Executor):
    """The in-process twin: runs a task where it is submitted, each only once a session."""

    def __init__(self, run: Callable[[SubtreeTask], bytes] = remembered) -> None:
        self.ran: list[str] = []
        self._run = run

    def submit(self, fn, task, /):  # noqa: ARG002 - the twin runs its own
        future: Future[bytes] = Future()
        self.ran.append(task.root)
        try:
            future.set_result(self._run(task))
        except Exception as failure:  # noqa: BLE001 - executors hand every failure on
            future.set_exception(failure)
        return future


@pytest.fixture(scope="module")
def whole() -> bytes:
    return forest_bytes(privacy_forest(MAP, REQUEST, executor=Inline()))


@pytest.fixture(scope="module")
def optimal() -> bytes:
    return forest_bytes(privacy_forest(MAP, OPTIMAL, executor=Inline()))


def test_every_subtree_has_a_matrix_that_keeps_the_promise():
    forest = privacy_forest(MAP, REQUEST, executor=Inline())
    assert list(forest.matrices) == ROOTS
    for root, matrix in forest.matrices.items():
        assert matrix.row_cells == MAP.subtrees(1)[ROOTS.index(root)].leaves
        table = distances.between_cells(matrix.row_cells)
        own = own_columns(matrix.row_cells, matrix.column_cells)
        assert audit(matrix, table, 5.0).holds
        assert certify(matrix.weights, table, 5.0, 2, Rows.DROP, own).holds
        assert forest.certificates[root]["holds"]
    assert (forest.map_id, forest.delta, forest.rows) == (map_id(MAP), 2, Rows.DROP)


def test_a_filtered_forest_reports_only_what_passes():
    filtered = small_map()
    entry = CatalogueEntry(2, "even", 0, Rows.KEEP, 15.0)
    forest = privacy_forest(filtered, request_for(map_id(filtered), entry), executor=Inline())
    (matrix,) = forest.matrices.values()
    assert matrix.column_cells == filtered.filters["even"]
    assert len(matrix.row_cells) == 49


def test_bytes_do_not_depend_on_what_runs_the_subtrees(optimal):
    with ThreadPoolExecutor(3) as threads:
        assert forest_bytes(privacy_forest(MAP, OPTIMAL, executor=threads)) == optimal
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        assert forest_bytes(privacy_forest(MAP, OPTIMAL, executor=process)) == optimal
    assert forest_bytes(privacy_forest(MAP, OPTIMAL)) == optimal


@pytest.mark.slow
def test_san_franciscos_robust_forest_is_the_same_bytes_on_one_core_and_on_all():
    tree = LocationTree("86283082fffffff", 3)
    entry = CatalogueEntry(2, None, 5, Rows.DROP, 5.0)
    city = PublicMap((tree.root,), 3, uniform_priors(tree.leaves), Settings((5.0,)), (entry,))
    request_ = request_for(map_id(city), entry)
    with ThreadPoolExecutor(1) as thread:
        alone = forest_bytes(privacy_forest(city, request_, executor=thread))
    assert forest_bytes(privacy_forest(city, request_)) == alone


def test_progress_is_told_for_every_subtree():
    told: list[SubtreeDone] = []
    privacy_forest(MAP, REQUEST, executor=Inline(), on_progress=told.append)
    assert [state.done for state in told] == list(range(1, 8))
    assert sorted(state.root for state in told) == ROOTS
    assert {(state.subtrees, state.reused) for state in told} == {(7, False)}


def test_what_is_finished_is_not_done_again(tmp_path, whole):
    first, again = Inline(), Inline()
    privacy_forest(MAP, REQUEST, executor=first, work_folder=tmp_path / "new")
    assert first.ran == ROOTS
    told: list[SubtreeDone] = []
    forest = privacy_forest(
        MAP, REQUEST, executor=again, work_folder=tmp_path / "new", on_progress=told.append
    )
    assert again.ran == []
    assert all(state.reused for state in told)
    assert forest_bytes(forest) == whole


def test_a_damaged_result_is_made_anew(tmp_path, whole):
    privacy_forest(MAP, REQUEST, executor=Inline(), work_folder=tmp_path)
    damaged, emptied, renamed = sorted(tmp_path.iterdir())[:3]
    content = bytearray(damaged.read_bytes())
    content[-1] ^= 1
    damaged.write_bytes(content)
    emptied.write_bytes(b"")
    renamed.rename(tmp_path / f"{'0' * 64}.{renamed.name.split('.')[1]}.safetensors")
    again = Inline()
    forest = privacy_forest(MAP, REQUEST, executor=again, work_folder=tmp_path)
    assert len(again.ran) == 3
    assert forest_bytes(forest) == whole


def test_results_are_kept_by_all_that_they_depend_on():
    subtree = MAP.subtrees(1)[0]
    task = task_of(MAP, REQUEST, subtree)
    others = [
        replace(task, delta=1),
        replace(task, rows="keep"),
        replace(task, epsilon_per_km=6.0),
        replace(task, gap=0.5),
        replace(task, work=5),
        replace(task, targets=None),
        replace(task, weights=(1.0,) * 7),
        replace(task, reportable=task.reportable[:3]),
        task_of(MAP, REQUEST, MAP.subtrees(1)[1]),
    ]
    assert len({task.key, *(other.key for other in others)}) == 10


def test_one_kept_result_answers_for_its_key_alone(tmp_path):
    keep(tmp_path, "a" * 64, b"content")
    assert kept(tmp_path, "a" * 64) == b"content"
    assert kept(tmp_path, "b" * 64) is None
    assert kept(tmp_path / "none", "a" * 64) is None


def test_a_failed_subtree_is_named_and_the_others_are_kept(tmp_path):
    def fails_twice(task: SubtreeTask) -> bytes:
        if task.root in ROOTS[2:4]:
            raise ZeroDivisionError
        return remembered(task)

    with pytest.raises(SubtreeFailed, match=f"2 of 7 .*{ROOTS[2]}.*{ROOTS[3]}") as failed:
        privacy_forest(MAP, REQUEST, executor=Inline(fails_twice), work_folder=tmp_path)
    assert "ZeroDivisionError" in str(failed.value)
    again = Inline()
    privacy_forest(MAP, REQUEST, executor=again, work_folder=tmp_path)
    assert again.ran == ROOTS[2:4]


def test_a_result_of_another_task_is_no_result():
    other = task_of(MAP, REQUEST, MAP.subtrees(1)[6])
    with pytest.raises(Exception, match="another task"):
        privacy_forest(MAP, REQUEST, executor=Inline(lambda _: remembered(other)))


@pytest.mark.parametrize(
    "request_",
    [
        replace(REQUEST, map_id="0" * 64),
        replace(REQUEST, delta=1),
        replace(REQUEST, epsilon_per_km=5.5),
        replace(REQUEST, filter="even"),
        replace(REQUEST, privacy_level=3),
    ],
)
def test_what_is_not_offered_starts_no_work(request_: ForestRequest):
    executor = Inline()
    with pytest.raises(InvalidMessage):
        privacy_forest(MAP, request_, executor=executor)
    assert executor.ran == []


def test_a_lost_worker_costs_only_what_it_was_doing(optimal):
    told: list[SubtreeDone] = []

    def kill_one(state: SubtreeDone) -> None:
        told.append(state)
        if state.done == 1:
            os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)

    assert forest_bytes(privacy_forest(MAP, OPTIMAL, on_progress=kill_one)) == optimal
    assert sorted(state.root for state in told) == ROOTS


class Deadly(SubtreeTask):
    """A task that ends whatever process receives it."""

    def __reduce__(self):
        return os._exit, (1,)


def test_the_subtree_that_kills_its_worker_is_found_and_the_others_survive():
    tasks = [task_of(MAP, OPTIMAL, subtree) for subtree in MAP.subtrees(1)[:4]]
    names = SubtreeTask.__slots__
    tasks[1] = Deadly(**{name: getattr(tasks[1], name) for name in names})
    outcomes = list(on_processes(2, tasks))
    failed = [outcome for outcome in outcomes if outcome.content is None]
    assert [outcome.task.root for outcome in failed] == [tasks[1].root]
    assert "lost twice" in str(failed[0].failure)
    assert len(outcomes) == 4


def test_workers_end_in_the_middle_of_their_work_when_nobody_wants_it():
    busy = task_of(MAP, replace(REQUEST, privacy_level=2, delta=30), MAP.subtrees(2)[0])
    outcomes = on_processes(2, [task_of(MAP, OPTIMAL, MAP.subtrees(1)[0]), busy, busy])
    next(outcomes)
    workers = multiprocessing.active_children()
    began = time.monotonic()
    outcomes.close()
    assert workers
    assert not any(worker.is_alive() for worker in workers)
    assert time.monotonic() - began < 10


def test_an_executor_that_is_lent_is_told_what_is_not_wanted_any_more():
    with ThreadPoolExecutor(1) as threads:
        outcomes = on_executor(threads, [task_of(MAP, OPTIMAL, t) for t in MAP.subtrees(1)])
        assert next(outcomes).content
        outcomes.close()
        assert threads._work_queue.qsize() <= 6
