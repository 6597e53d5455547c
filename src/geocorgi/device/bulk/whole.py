"""A whole release: every bucket, then one file of all that leaves, whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass
from pathlib import Path

from geocorgi.checkins.polars_door import pl
from geocorgi.device.bulk.bucket import BucketDone, RowsDone, protect_bucket
from geocorgi.device.bulk.job import BucketTask, Job
from geocorgi.device.bulk.memory import BulkMemory, Heaviest
from geocorgi.device.memory import weakest
from geocorgi.errors import BadFile, GeocorgiError, ReleaseUnfinished
from geocorgi.files import publish

OUT_KINDS = (".csv", ".parquet")
TIME = "%Y-%m-%dT%H:%M:%S%.fZ"


@dataclass(frozen=True, slots=True)
class Whole:
    """The account of a whole release."""

    account: dict[str, int]
    heaviest: Heaviest


def protect(
    job: Job, out: Path, executor: Executor | None = None, on_rows: RowsDone | None = None
) -> Whole:
    """Do all buckets, here or on an executor, and write the one file of what leaves."""
    tasks = [BucketTask(job, bucket) for bucket in range(job.buckets)]
    done = sorted(_outcomes(tasks, executor, on_rows), key=lambda one: one.bucket)
    _join([job.work / part for one in done for part in one.parts], job.work / "whole", out)
    account = Counter[str]()
    for one in done:
        account.update(one.account)
    return Whole(dict(account), _heaviest(one.heaviest for one in done))


def forget(job: Job) -> None:
    """Forget which batches were done: the release is over."""
    for bucket in range(job.buckets):
        with BulkMemory(job.memory(bucket)) as memory:
            memory.forget_run(bytes.fromhex(job.run))


def _outcomes(
    tasks: list[BucketTask], executor: Executor | None, on_rows: RowsDone | None
) -> Iterator[BucketDone]:
    if executor is None:
        yield from (protect_bucket(task, on_rows) for task in tasks)
        return
    running = [executor.submit(protect_bucket, task) for task in tasks]
    try:
        for future in as_completed(running):
            done = _done(future)
            if on_rows is not None:
                on_rows(done.account["rows"])
            yield done
    finally:
        for future in running:
            future.cancel()


def _done(future: Future[BucketDone]) -> BucketDone:
    """Return what a worker did; of a failure elsewhere only its kind is said, it may quote rows."""
    failure = future.exception()
    if failure is None:
        return future.result()
    if isinstance(failure, GeocorgiError):
        raise failure
    raise ReleaseUnfinished(
        f"a worker did not finish its users ({type(failure).__name__}); what is done is kept: the "
        "same command goes on from there"
    ) from None


def _join(parts: list[Path], waiting: Path, out: Path) -> None:
    """Write the parts, in order, as one file; it waits where nobody else may write."""
    rows = pl.scan_parquet(parts, glob=False)
    try:
        if out.suffix == ".csv":
            rows.sink_csv(waiting, datetime_format=TIME)
        else:
            rows.sink_parquet(waiting)
    except (OSError, pl.exceptions.PolarsError) as refusal:
        waiting.unlink(missing_ok=True)
        raise BadFile(f"cannot write {out.name}: {type(refusal).__name__}") from None
    publish(waiting, out)


def _heaviest(buckets: Iterable[Heaviest]) -> Heaviest:
    found = list(buckets)
    return Heaviest(
        sum(one.users for one in found),
        max(one.draws for one in found),
        max(one.epsilon_per_km for one in found),
        weakest(one.weakest for one in found),
    )
