"""A release over a real Dask scheduler with two worker processes: the same promise, lost or not."""

from __future__ import annotations

import pickle
from concurrent.futures import Executor, Future
from pathlib import Path

import polars as pl
import pytest

from geocorgi.device.bulk.bucket import protect_bucket
from geocorgi.device.bulk.preparing import job_of
from geocorgi.device.bulk.release_file import release_file
from geocorgi.device.bulk.whole import protect
from geocorgi.errors import BadCheckins, ReleaseUnfinished
from tests.clusters import cluster_in
from tests.device.bulk.releases import prepared_for, wish_in, write_rows
from tests.wire.maps import LEAVES


class Recording(Executor):
    """Runs each task here and keeps what would have travelled."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def submit(self, function, task, /):
        self.sent.append(pickle.dumps((function, task)))
        future: Future = Future()
        try:
            future.set_result(function(task))
        except Exception as failure:  # noqa: BLE001 - as an executor does
            future.set_exception(failure)
        return future


def test_tasks_carry_paths_and_a_bucket_and_never_a_row(tmp_path):
    rows = write_rows(tmp_path / "rows.csv", 100)
    executor = Recording()
    job = job_of(wish_in(tmp_path, buckets=4), prepared_for())
    protect(job, tmp_path / "out.parquet", executor)
    assert len(executor.sent) == 4
    for sent in executor.sent:
        assert len(sent) < 2_000
        assert b"rows.csv" in sent
        assert not any(leaf.encode() in sent for leaf in LEAVES)
        assert not any(f"bar-{leaf}".encode() in sent for _, leaf in rows)
        function, task = pickle.loads(sent)  # noqa: S301 - our own
        assert (function, task.job) == (protect_bucket, job)


def failing(_task):
    raise ValueError("u7 was at 37.77,-122.42")


def test_a_workers_failure_is_said_by_its_kind_and_a_refusal_as_it_is(tmp_path):
    write_rows(tmp_path / "rows.csv", 20)
    job = job_of(wish_in(tmp_path), prepared_for())

    class Failing(Recording):
        def submit(self, _function, task, /):
            return super().submit(failing, task)

    with pytest.raises(ReleaseUnfinished) as refusal:
        protect(job, tmp_path / "out.parquet", Failing())
    assert "ValueError" in str(refusal.value)
    assert "37.77" not in str(refusal.value)
    (tmp_path / "rows.csv").write_text("other,columns\n", encoding="utf-8")
    with pytest.raises(BadCheckins, match="line 1"):
        protect(job, tmp_path / "out.parquet", Recording())


@pytest.mark.filterwarnings(
    "default"
)  # the library's own threads and sockets are not ours to close
def test_a_cluster_releases_and_survives_the_loss_of_a_worker(tmp_path: Path):
    pytest.importorskip("distributed", reason="pip install 'geocorgi[cluster]'")
    from geocorgi.cluster import cluster_executor  # noqa: PLC0415

    rows = write_rows(tmp_path / "rows.csv", 400)
    prepared = prepared_for()
    with cluster_in(tmp_path) as cluster, cluster_executor(cluster.address) as executor:

        def lose_one(_rows: int) -> None:
            cluster.workers[0].kill()

        wish = wish_in(tmp_path, buckets=6)
        manifest = release_file(wish, prepared, executor, lose_one)
    assert manifest["rows"]["reported"] == 400
    assert manifest["rows"]["fresh_draws"] == len(set(rows))
    assert len(list((tmp_path / "memories").iterdir())) == 6
    frame = pl.read_parquet(tmp_path / "out.parquet")
    drawn = release_file(wish_in(tmp_path, out=tmp_path / "here.parquet"), prepared)
    assert drawn["rows"]["fresh_draws"] == 0
    assert frame.equals(pl.read_parquet(tmp_path / "here.parquet"))
