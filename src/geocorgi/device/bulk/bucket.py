"""All rows of one bucket of users, batch by batch: what a worker does, here or elsewhere.

A batch is drawn, written under a temporary name, committed to the memory (draws, charges and
account at once) and given its name. Killed at any moment, a run goes on with the first batch that
is not committed; one that is committed has its rows on the disk. What lies there until the end is
what will leave, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from geocorgi.checkins.defects import DefectReport
from geocorgi.checkins.judgement import SCHEMA
from geocorgi.checkins.leaf_places import leaf_places
from geocorgi.checkins.polars_door import pl
from geocorgi.checkins.rows import Batch
from geocorgi.device.bulk.batch import Tools, release
from geocorgi.device.bulk.job import BucketTask, Job
from geocorgi.device.bulk.mechanism import read_mechanism
from geocorgi.device.bulk.memory import BulkMemory, Heaviest
from geocorgi.device.data_folder import private_folder
from geocorgi.errors import BadFile
from geocorgi.files import publish, reached_disk

MECHANISM = "mechanism"
RowsDone = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class BucketDone:
    """The account of a bucket: counts that say nothing of anybody's place."""

    bucket: int
    account: dict[str, int]
    heaviest: Heaviest
    parts: tuple[str, ...]


def protect_bucket(task: BucketTask, on_rows: RowsDone | None = None) -> BucketDone:
    """Do every batch of the bucket that is not done yet, and return the account of all."""
    job, bucket = task.job, task.bucket
    private_folder(job.work)
    mechanism = read_mechanism(job.work / MECHANISM)
    account, parts = Counter[str](), list[str]()
    with BulkMemory(private_folder(job.memory(bucket))) as memory:
        tools = Tools(job, leaf_places(mechanism.leaves), mechanism, memory, {})
        first = 0
        for batch in _batches(job):
            mine = _of_bucket(batch.frame, bucket, job.buckets)
            part = job.part(bucket, first)
            account.update(_committed(mine, tools, part, first))
            first += batch.report.rows_in
            if bucket == 0:  # every bucket reads every row: the bad ones are counted once
                account["bad_rows"] += batch.report.rows_bad
                account["broken_off"] += batch.report.broken_after_line is not None
            parts.append(part.name)
            if on_rows is not None:
                on_rows(batch.report.rows_in)
        return BucketDone(bucket, dict(account), memory.heaviest(), tuple(parts))


def _batches(job: Job) -> Iterator[Batch]:
    """Yield the batches of rows; an empty one where there is none, so that something leaves."""
    nothing = True
    for batch in job.checkins.batches():
        nothing = False
        yield batch
    if nothing:
        carried = {name: pl.String() for name in job.columns.carried()}
        frame = pl.DataFrame(schema=pl.Schema({**SCHEMA, **carried}))
        yield Batch(frame, DefectReport(job.checkins.name))


def _committed(rows: pl.DataFrame, tools: Tools, part: Path, first: int) -> dict[str, int]:
    """Return the account of the batch from that row on, done now or by an earlier run.

    One that was cut elsewhere, so that it has another number of rows, is not this one.
    """
    memory, run = tools.memory, bytes.fromhex(tools.job.run)
    waiting = part.with_suffix(".waiting")
    with memory.alone():
        done = memory.account(run, first)
        kept = part.exists() or waiting.exists()
        if done is None or done["rows"] != len(rows) or not kept:
            now = datetime.now(UTC)
            released = release(rows, tools, now)
            _write(released.frame, waiting)
            memory.remember(released.drawn, tools.job.keeps)
            memory.charge(run, released.draws, tools.job.epsilon_per_km, now)
            memory.settle_account(run, first, released.account)
            done = dict(released.account)
    with memory.alone():  # a worker that was given up may be at the same batch
        if waiting.exists():
            publish(waiting, part)
    return done


def _write(frame: pl.DataFrame, path: Path) -> None:
    """Write what will leave, to the disk; a refusal does not quote it."""
    try:
        frame.write_parquet(path)
        reached_disk(path)
    except (OSError, pl.exceptions.PolarsError) as refusal:
        raise BadFile(
            f"cannot write {path.name} ({type(refusal).__name__}): is there room on the disk?"
        ) from None


def _of_bucket(frame: pl.DataFrame, bucket: int, buckets: int) -> pl.DataFrame:
    if buckets == 1:
        return frame
    users = frame["user"].unique().to_list()
    mine = [user for user in users if bucket_of(user, buckets) == bucket]
    return frame.filter(pl.col("user").is_in(mine))


def bucket_of(user: str, buckets: int) -> int:
    """Return the bucket of a user: the same on every machine and in every release."""
    return int.from_bytes(blake2b(user.encode(), digest_size=8).digest(), "big") % buckets
