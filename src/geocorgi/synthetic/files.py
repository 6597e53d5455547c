"""Made-up cities as files: check-ins in the SNAP layout, the truth as a TSV with a header.

The bytes before compression are fixed by the city; gzip files carry no time and no name, so they
too are the same wherever zlib is.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.resources import as_file, files
from pathlib import Path

from geocorgi.errors import BadFile
from geocorgi.files import write_atomically
from geocorgi.synthetic.city import City, CityPlan, Truth
from geocorgi.synthetic.people import Habit

SAN_FRANCISCO = CityPlan(
    root="86283082fffffff", timezone="America/Los_Angeles", seed=2010, median_check_ins=34.0
)
CHECK_INS_FILE = "san_francisco_synthetic.tsv.gz"
TRUTH_FILE = "san_francisco_synthetic_truth.tsv.gz"
TRUTH_HEADER = "user\thabit\thome_cell\toffice_cell\toutlier_cells"


def check_ins_as_text(city: City) -> str:
    """Return the check-ins in the SNAP layout."""
    return _text(
        f"{user}\t{_written(time)}\t{place.latitude:.6f}\t{place.longitude:.6f}\t{place.location}"
        for user, time, place in city.visits
    )


def truth_as_text(truth: Iterable[Truth]) -> str:
    """Return the truth, one user a line; several outlier cells are separated by blanks."""
    lines = (
        f"{known.user}\t{known.habit}\t{known.home_cell}\t{known.office_cell or ''}"
        f"\t{' '.join(known.outlier_cells)}"
        for known in truth
    )
    return _text([TRUTH_HEADER, *lines])


def write_check_ins(city: City, path: str | Path) -> None:
    """Write the check-ins in the SNAP layout, compressed if the name ends in ``.gz``."""
    _write(check_ins_as_text(city), Path(path))


def write_truth(city: City, path: str | Path) -> None:
    """Write the truth, compressed if the name ends in ``.gz``."""
    _write(truth_as_text(city.truth), Path(path))


def read_truth(path: str | Path) -> tuple[Truth, ...]:
    """Return the truth that :func:`write_truth` wrote."""
    content = Path(path).read_bytes()
    unpacked = gzip.decompress(content) if Path(path).suffix == ".gz" else content
    lines = unpacked.decode("ascii").splitlines()
    if lines[:1] != [TRUTH_HEADER]:
        raise BadFile(f"{Path(path).name}, line 1: expected the header of a truth file")
    return tuple(_truth(line.split("\t")) for line in lines[1:])


@contextmanager
def bundled_check_ins() -> Iterator[Path]:
    """Lend the path of the bundled check-ins of a made-up San Francisco."""
    with as_file(files("geocorgi.synthetic") / "data" / CHECK_INS_FILE) as path:
        yield path


def bundled_truth() -> tuple[Truth, ...]:
    """Return the truth about the bundled check-ins."""
    with as_file(files("geocorgi.synthetic") / "data" / TRUTH_FILE) as path:
        return read_truth(path)


def _truth(fields: list[str]) -> Truth:
    user, habit, home, office, odd = fields
    return Truth(int(user), Habit(habit), home, office or None, tuple(odd.split()))


def _written(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _write(text: str, path: Path) -> None:
    content = text.encode("ascii")
    if path.suffix == ".gz":
        content = gzip.compress(content, compresslevel=9, mtime=0)
    write_atomically(path, content)
