"""What a release consists of: names and paths, which may travel; never a row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geocorgi.checkins.layouts import Columns, Layout
from geocorgi.checkins.readers import Checkins, read_parquet, read_text
from geocorgi.device.memory import Keeps
from geocorgi.device.policy import Budget
from geocorgi.errors import BadFile, InvalidInput

REPORTED = "cell"
MOST_BUCKETS = 1_000
KINDS = (".csv", ".csv.gz", ".parquet")


@dataclass(frozen=True, slots=True)
class Job:
    """One release: where the rows are, which columns leave, on what terms, where work is kept.

    ``keeps`` is what a fresh draw keeps. ``run`` names this very release, so that only the same one
    goes on where another was killed.
    """

    source: Path
    columns: Columns
    keep: tuple[str, ...]
    work: Path
    memories: Path
    buckets: int
    keeps: Keeps
    resolution: int
    budget: Budget
    run: str

    @property
    def epsilon_per_km(self) -> float:
        """What a fresh draw costs."""
        return self.keeps.epsilon_per_km

    @property
    def checkins(self) -> Checkins:
        """The rows, read anew each time."""
        return rows_of(self.source, self.columns)

    def part(self, bucket: int, first: int) -> Path:
        """Return where what leaves of a bucket's batch, from that row on, is kept until the end."""
        return self.work / f"part-{bucket:04}-{first:012}.parquet"

    def memory(self, bucket: int) -> Path:
        """Return the folder of a bucket's memory."""
        return self.memories / f"{bucket:04}-of-{self.buckets:04}"


@dataclass(frozen=True, slots=True)
class BucketTask:
    """All that a worker is told: the job, and of which users' bucket to do the rows."""

    job: Job
    bucket: int


def rows_of(source: Path, columns: Columns) -> Checkins:
    """Return the rows of a file of a known kind."""
    require_kind(source, KINDS)
    if source.suffix == ".parquet":
        return read_parquet(source, columns)
    return read_text(source, Layout(columns))


def require_kind(path: Path, kinds: tuple[str, ...]) -> Path:
    """Return the path if its name ends in one of the kinds, or refuse it."""
    if not path.name.endswith(kinds):
        raise BadFile(f"{path.name} is of no known kind: its name ends in {' or '.join(kinds)}")
    return path


def columns_to_read(columns: Columns, keep: tuple[str, ...]) -> Columns:
    """Return which columns to read so that the kept ones can leave, or refuse those that must not.

    Only what is kept leaves, beside the reported cell: user and time unless they are left out.
    """
    if columns.user is None:
        raise InvalidInput("a release needs a column of users: each has a memory of her own")
    if len(set(keep)) != len(keep) or REPORTED in keep:
        raise InvalidInput(f"name each kept column once; '{REPORTED}' is what the cell is called")
    if places := {columns.latitude, columns.longitude} & set(keep):
        raise InvalidInput(f"'{min(places)}' holds real places: it never leaves")
    carried = tuple(name for name in keep if name not in (columns.user, columns.time))
    return Columns(columns.user, columns.time, columns.latitude, columns.longitude, None, carried)
