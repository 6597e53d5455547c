"""The wall between server and device (Paper: §2.2): three locks; each catches what others miss."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

IMPORT_ALL_OF = """
import importlib, json, pkgutil, sys
room = importlib.import_module({room!r})
for module in pkgutil.walk_packages(room.__path__, {room!r} + "."):
    importlib.import_module(module.name)
print(json.dumps(sorted(name for name in sys.modules if name.startswith("geocorgi."))))
"""


def python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


def imported_by(room: str) -> list[str]:
    done = python(IMPORT_ALL_OF.format(room=room))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def rooms(names: list[str]) -> set[str]:
    return {name.split(".")[1] for name in names}


def test_a_fresh_process_with_all_of_the_server_has_nothing_of_the_device():
    found = rooms(imported_by("geocorgi.server"))
    assert {"server", "generate", "wire"} <= found
    assert not found & {"device", "cli"}


def test_a_fresh_process_with_all_of_the_device_has_no_server_and_no_generator():
    found = rooms(imported_by("geocorgi.device"))
    assert {"device", "wire"} <= found
    assert not found & {"server", "generate", "cli"}


def test_behind_the_wall_the_device_cannot_be_imported_by_whatever_name():
    done = python(
        "import importlib, sys\n"
        "from geocorgi.server.wall import raise_wall\n"
        "raise_wall(); raise_wall()\n"
        "import geocorgi.wire.public_map, geocorgi.generate.exact\n"
        "for name in ('geocorgi.device', 'geocorgi.device.sampling', 'geocorgi.device.nope'):\n"
        "    try: importlib.import_module(name)\n"
        "    except ImportError as refusal: print(type(refusal).__name__, refusal.args[0])\n"
        "print(len([name for name in sys.modules if name.startswith('geocorgi.device')]))\n"
    )
    assert done.stdout.splitlines() == [
        *["WallBreached a server does not import geocorgi.device: it runs where the user is"] * 3,
        "0",
    ], done.stderr


def test_the_wall_does_not_go_up_around_a_device():
    done = python(
        "import geocorgi.device.sampling\nfrom geocorgi.server.wall import raise_wall\nraise_wall()"
    )
    assert "WallBreached: a server's process has geocorgi.device in it" in done.stderr


@pytest.mark.parametrize("how", ["geocorgi.server.cli:main", "python -m geocorgi.server.cli"])
def test_the_operators_command_begins_by_raising_it(how):
    start = (
        "from geocorgi.server.cli import main; main()"
        if how.endswith(":main")
        else "import runpy; runpy.run_module('geocorgi.server.cli', run_name='__main__')"
    )
    done = python(
        "import sys, warnings\n"
        "sys.argv = ['geocorgi-server', '--version']\n"
        f"try:\n    {start}\n"
        "except SystemExit as end: print('exit', end.code)\n"
        "import geocorgi.device"
    )
    assert done.stdout.splitlines()[-1] == "exit 0"
    assert done.stderr.splitlines()[-1].startswith("geocorgi.errors.WallBreached: ")


def test_the_installed_command_is_that_one():
    scripts = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert 'geocorgi-server = "geocorgi.server.cli:main"' in scripts


BREACHES = {
    "server/catalogue.py": "from geocorgi.device.sampling import draw",
    "device/transport.py": "import geocorgi.server.catalogue",
    "device/sampling.py": "from geocorgi.generate.exact import exact",
    "wire/catalogue.py": "from geocorgi.device import sampling",
    "tree/cells.py": "import geocorgi.device.whereabouts",
    "__init__.py": "from geocorgi.device.sampling import draw",
    "device/http_source.py": "import httpx",
}


def contracts_of(folder: Path) -> subprocess.CompletedProcess[str]:
    """Judge a copy of the source, and nothing of what is installed."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder / "src"), "PATH": "", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_contracts_notice_every_breach_and_nothing_else(tmp_path: Path):
    shutil.copytree(REPOSITORY / "src", tmp_path / "src")
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    whole = contracts_of(tmp_path)
    assert whole.returncode == 0, whole.stdout + whole.stderr
    for module, breach in BREACHES.items():
        source = tmp_path / "src" / "geocorgi" / module
        before = source.read_text(encoding="utf-8")
        source.write_text(f"{before}\n{breach}\n", encoding="utf-8")
        broken = contracts_of(tmp_path)
        assert (broken.returncode, "BROKEN" in broken.stdout) == (1, True), module
        source.write_text(before, encoding="utf-8")
