"""The machine that benchmarks ran on, how busy others kept it, and how the page says so."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

from geocorgi.lab.machine import processor
from markdown import table

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("numpy", "scipy", "highspy", "h3", "polars", "qif")
MUCH_OTHER_WORK = 0.1
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
Json = dict[str, Any]


class Stretch:
    """A stretch of time, and how much of the cores others used in it."""

    def __init__(self) -> None:
        self._began, self._all, self._own = time.perf_counter(), _busy_seconds(), _own_seconds()

    def end(self) -> tuple[float, float | None]:
        """Return its seconds, and the share of the cores that others used, where that is known."""
        seconds, all_now = time.perf_counter() - self._began, _busy_seconds()
        if self._all is None or all_now is None:
            return seconds, None
        others = (all_now - self._all) - (_own_seconds() - self._own)
        return seconds, max(0.0, others / (seconds * (os.cpu_count() or 1)))


def _busy_seconds() -> float | None:
    """Return the seconds for which all cores together have worked, stolen time included."""
    status = Path("/proc/stat")
    if not status.exists():
        return None
    fields = [int(x) for x in status.read_text(encoding="ascii").splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Return what this process and the ended ones that it started have worked."""
    used = [resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(x.ru_utime + x.ru_stime for x in used)


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    status = Path("/proc/self/status")
    if status.exists():  # the resource module's peak would include that of the parent process
        (line,) = (x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT


def machine() -> Json:
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": pages * size / 1e9,
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in VERSIONS},
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS"),
        "commit": _commit(),
    }


def machine_text(known: Json, sections: Json) -> str:
    versions = ", ".join(
        f"{name} {version or '– (not there)'}" for name, version in known["versions"].items()
    )
    threads = known["blas_threads"]
    blas = "as the library chooses" if threads is None else f"`OPENBLAS_NUM_THREADS={threads}`"
    rows = [
        [f"`{name}`", f"{section['seconds'] / 60:.1f}", _share(section["others"])]
        for name, section in sections.items()
    ]
    total = sum(section["seconds"] for section in sections.values())
    busiest = max((x["others"] for x in sections.values() if x["others"] is not None), default=0)
    quiet = (
        "The machine had other work at the time: the seconds are no better than that."
        if busiest > MUCH_OTHER_WORK
        else "The machine had little else to do."
    )
    return (
        f"## The machine\n\n{known['processor']}, {known['cores']} cores, "
        f"{known['memory_gb']:.0f} GB of memory, {known['system']}. Python {known['python']}, "
        f"{versions}. Threads of the linear algebra: {blas}. The project at "
        f"`{known['commit']}`.\n\n"
        + table(["section", "minutes", "others had"], rows)
        + f"\n\nAltogether {total / 60:.0f} minutes. The last column is the share of the cores "
        f"that other processes used meanwhile. {quiet}"
    )


def _share(others: float | None) -> str:
    return "–" if others is None else f"{others:.0%}"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Return the last commit of what is measured, and whether it was changed since."""
    measured = ["--", "src", "benchmarks"]
    commit = _git("log", "-1", "--format=%h", "--abbrev=10", *measured)
    return f"{commit}-changed" if commit and _git("status", "--porcelain", *measured) else commit


def _git(*command: str) -> str | None:
    answer = subprocess.run(
        ["git", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or None
