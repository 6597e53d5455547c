"""Running experiments: case by case, each result on the disk before the next, so that all resumes.

A case's result is kept under the digest of what it is asked: its parameters, the setting and the
check-ins. It carries the digest of the code that measured it: other code measures it anew, unless
it is told to keep what earlier code left, and then the account says how much that is.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import geocorgi
from geocorgi.errors import BadFile
from geocorgi.files import write_atomically
from geocorgi.lab.experiment import Experiment, Parameters, Row, Setting
from geocorgi.lab.experiments import experiment_of
from geocorgi.terminal import finite

CASES = ".cases"
PROCESSES = 2
ROOMS = ("tree", "checkins", "matrix", "generate", "device", "lab", "synthetic")
Told = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Measured:
    """An experiment's rows and the seconds that its cases took, on the clock and of a processor.

    ``resumed`` cases were there before, ``older`` of them by other code than this.
    """

    experiment: Experiment
    rows: list[Row]
    seconds: float
    processor_seconds: float
    wall_seconds: float
    resumed: int
    older: int


@dataclass(frozen=True, slots=True)
class Running:
    """How cases are run: in how many processes, and whether other code's results are kept."""

    processes: int = PROCESSES
    keep: bool = False


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    parameters: Parameters
    setting: Setting
    path: Path


def measured(
    experiment: Experiment,
    setting: Setting,
    out: Path,
    told: Told,
    running: Running | None = None,
) -> Measured:
    """Measure what is missing of an experiment, and return all its rows in the cases' order."""
    running = running or Running()
    started = time.perf_counter()
    cases = [_case(experiment, given, setting, out) for given in experiment.cases(setting)]
    (out / CASES).mkdir(parents=True, exist_ok=True)
    missing = [case for case in cases if not _is_there(case, keep=running.keep)]
    told(experiment.name, len(cases) - len(missing), len(cases))
    processes = _processes(experiment, missing, setting, running)
    for count, _ in enumerate(_measuring(missing, processes), start=1):
        told(experiment.name, len(cases) - len(missing) + count, len(cases))
    results = [_read(case.path) for case in cases]
    return Measured(
        experiment,
        [row for result in results for row in result.rows],
        sum(result.seconds for result in results),
        sum(result.processor_seconds for result in results),
        time.perf_counter() - started,
        len(cases) - len(missing),
        sum(result.code != _code() for result in results),
    )


def _is_there(case: _Case, *, keep: bool) -> bool:
    return case.path.exists() and (keep or _read(case.path).code == _code())


def _processes(
    experiment: Experiment, missing: Sequence[_Case], setting: Setting, running: Running
) -> int:
    if experiment.alone or setting.quick or len(missing) < 2:
        return 1
    return min(running.processes, os.cpu_count() or 1)


def _measuring(missing: Sequence[_Case], processes: int) -> Iterator[None]:
    """Measure the cases, yielding after each; in fresh processes where there are several."""
    if processes == 1:
        yield from map(_measure, missing)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        try:
            yield from pool.map(_measure, missing)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _measure(case: _Case) -> None:
    started, worked = time.perf_counter(), time.process_time()
    rows = experiment_of(case.name).measure(case.parameters, case.setting)
    result = {
        "parameters": case.parameters,
        "code": _code(),
        "seconds": time.perf_counter() - started,
        "processor_seconds": time.process_time() - worked,
        "rows": rows,
    }
    content = json.dumps(finite(result), allow_nan=False)
    write_atomically(case.path, content.encode())


@dataclass(frozen=True, slots=True)
class _Result:
    code: str
    seconds: float
    processor_seconds: float
    rows: list[Row]


def _read(path: Path) -> _Result:
    try:
        found = json.loads(path.read_bytes())
        return _Result(*(found[name] for name in _Result.__slots__))
    except (OSError, ValueError, LookupError, TypeError) as refusal:
        raise BadFile(f"{path.name} is no result of a case: remove it and run again") from refusal


def _case(experiment: Experiment, given: Parameters, setting: Setting, out: Path) -> _Case:
    asked = [experiment.name, given, setting.quick, setting.seed, _data(setting.data)]
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:20]
    path = out / CASES / f"{experiment.name}-{digest}.json"
    return _Case(experiment.name, given, setting, path)


@cache
def _data(folder: Path | None) -> list[list[str | int]]:
    """Return the names and sizes of the folder's files: enough to tell one set from another."""
    if folder is None:
        return []
    if not folder.is_dir():
        raise BadFile("the folder of --data is none; give the one that holds the check-ins")
    return [[path.name, path.stat().st_size] for path in sorted(folder.iterdir())]


@cache
def _code() -> str:
    """Return the digest of the code that results follow from."""
    digest = hashlib.sha256(geocorgi.__version__.encode())
    for room in ROOMS:
        for path in sorted(Path(str(files("geocorgi") / room)).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
