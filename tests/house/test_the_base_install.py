"""A user's device gets little: no solver, no data frames, at most 80 MB."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

LARGEST_BYTES = 80_000_000
NEVER_ON_A_DEVICE = {
    "highspy",
    "scipy",
    "polars",
    "pandas",
    "fastapi",
    "uvicorn",
    "nicegui",
    "dask",
}


def needed_by(distribution: str, seen: set[str]) -> set[str]:
    """Return the distributions that installing this one without extras brings."""
    name = re.sub(r"[-_.]+", "-", distribution).lower()
    if name in seen:
        return seen
    seen.add(name)
    for requirement in metadata.requires(distribution) or ():
        base, _, marker = requirement.partition(";")
        if "extra ==" not in marker and "win32" not in marker and "Windows" not in marker:
            needed = re.match(r"[A-Za-z0-9._-]+", base).group()
            if is_installed(needed):
                needed_by(needed, seen)
    return seen


def is_installed(distribution: str) -> bool:
    return any(True for _ in metadata.distributions(name=distribution))


def installed_bytes(distribution: str) -> int:
    """Return the size of what the wheel unpacks to; bytecode is Python's own cache, not counted."""
    files = metadata.files(distribution) or ()
    paths = [Path(file.locate()) for file in files]
    if distribution == "geocorgi":  # installed editable here, a few bytes; elsewhere all of it
        paths = list((REPOSITORY / "src" / "geocorgi").rglob("*"))
    wanted = [path for path in paths if path.is_file() and path.suffix != ".pyc"]
    return sum(path.stat().st_size for path in wanted)


def test_the_base_install_fits_a_device():
    sizes = {name: installed_bytes(name) for name in needed_by("geocorgi", set())}
    assert sizes["numpy"] > 10_000_000  # the measure measures
    assert sizes["geocorgi"] > 1_000_000
    assert sum(sizes.values()) <= LARGEST_BYTES, sizes


def test_the_base_install_brings_no_solver_and_no_server():
    assert not needed_by("geocorgi", set()) & NEVER_ON_A_DEVICE


def test_the_users_command_and_the_device_import_nothing_beyond_the_base_install():
    program = (
        "import sys, json, geocorgi.cli.main, geocorgi.device.sampling, geocorgi.tree.priors_file;"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not set(json.loads(answer.stdout)) & NEVER_ON_A_DEVICE


def test_importing_the_root_imports_no_room():
    program = "import sys, geocorgi; print([m for m in sys.modules if m.startswith('geocorgi.')])"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


WITHOUT_EXTRAS = """
import importlib, sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])
sys.meta_path.insert(0, Nothing())
sys.argv = {words!r}
importlib.import_module({module!r}).run()
"""


@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [
        ("geocorgi.server.cli", ["geocorgi-server", "serve"], "server"),
        ("geocorgi.server.cli", ["geocorgi-server", "matrix", "--epsilon", "5"], "server"),
        ("geocorgi.lab.cli", ["geocorgi-lab", "list"], "lab"),
        ("geocorgi.cli.main", ["geocorgi", "app"], "app"),
        ("geocorgi.cli.main", ["geocorgi", "picture", "tree", "--out", "tree.png"], "app"),
    ],
)
def test_what_an_extra_would_bring_is_said_in_a_sentence(module, words, extra, tmp_path):
    absent = {*NEVER_ON_A_DEVICE, "matplotlib", "resvg_py", "threadpoolctl", "obstore"}
    program = WITHOUT_EXTRAS.format(absent=absent, words=words, module=module)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"{words[0]}: .*pip install 'geocorgi\[{extra}\]'.*\n", done.stderr)
