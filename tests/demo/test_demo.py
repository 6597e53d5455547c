"""The demonstration: what it shows is so, and nothing is left of it however it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

import pytest

from geocorgi.demo.commands import Commands
from geocorgi.demo.pick_up import LARGEST_REPORT, ask, nearest, pick_ups
from geocorgi.errors import CommandFailed
from geocorgi.synthetic.files import bundled_truth
from geocorgi.tree import cells
from geocorgi.tree.distances import haversine_km

QUICK = "from geocorgi.demo.story import Plan, main; main(Plan(level=1, epsilon_per_km=15.0))"
WHOLE = "from geocorgi.demo.story import main; main()"
SERVED = re.compile(r"http://127\.0\.0\.1:(\d+)/")
SECONDS = 240.0


class Homes(NamedTuple):
    """A user's home, and the machine's folder for what is temporary."""

    home: Path
    temporary: Path

    @property
    def left(self) -> list[str]:
        return [path.name for folder in self for path in folder.rglob("*")]


@pytest.fixture
def homes(tmp_path: Path) -> Homes:
    found = Homes(tmp_path / "home", tmp_path / "temporary")
    for folder in found:
        folder.mkdir()
    return found


@contextmanager
def shown(program: str, homes: Homes) -> Iterator[subprocess.Popen[str]]:
    """Lend a demonstration in a process group of its own, as a terminal has it."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {
            "HOME": str(homes.home), "TMPDIR": str(homes.temporary), "COLUMNS": "100",
            "GEOCORGI_DATA": str(homes.home / "mine"), "GEOCORGI_PROXY": "http://127.0.0.1:9",
            "http_proxy": "http://127.0.0.1:9",
        },
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def is_served(said: str) -> bool:
    """Return whether anything still listens where the demonstration's server did."""
    (port, *_) = SERVED.findall(said)
    with socket.socket() as knocking:
        return knocking.connect_ex(("127.0.0.1", int(port))) == 0


def require_true(said: str, level: int) -> None:
    assert "it holds" in said
    assert "drawn and charged now" in said
    reports = re.findall(r"report +([0-9a-f]{15})", said)
    sent = json.loads("{" + said.partition("nothing else:\n{")[2].partition("}")[0] + "}")
    assert [sent["cell"]] == reports  # the same place once more: the same cell
    assert set(sent) == {"cell", "latitude", "level", "longitude", "map_id"}
    user = bundled_truth()[0]
    assert sent["cell"] not in {user.home_cell, user.office_cell}
    resolution = cells.resolution_of(user.home_cell) - level
    assert cells.ancestor(sent["cell"], resolution) == cells.ancestor(user.home_cell, resolution)
    (error,) = re.findall(r"realised error +(\d+) m", said)
    home, reported = cells.centre(user.home_cell), cells.centre(sent["cell"])
    found = nearest(reported)
    walked = [float(haversine_km(*place, *found)) for place in (home, reported)]
    assert int(error) == round(abs(walked[0] - walked[1]) * 1000)


def test_an_operator_a_user_and_a_third_party_play_their_parts(homes: Homes) -> None:
    with shown(QUICK, homes) as process:
        said = process.communicate(timeout=SECONDS)[0]
    assert process.returncode == 0, said
    require_true(said, level=1)
    noted = said.partition("All that the server has noted")[2]
    assert "built in" in noted
    assert not is_served(said)
    assert homes.left == []


@pytest.mark.slow
def test_the_whole_of_it_is_shown(homes: Homes) -> None:
    with shown(WHOLE, homes) as process:
        said = process.communicate(timeout=SECONDS)[0]
    assert process.returncode == 0, said
    require_true(said, level=2)
    assert homes.left == []


@pytest.mark.parametrize(
    "how", ["as a terminal does", pytest.param("as a supervisor does", marks=pytest.mark.slow)]
)
def test_interrupted_in_the_middle_it_stops_the_server_and_leaves_nothing(homes, how) -> None:
    with shown(WHOLE, homes) as process:
        said = ""
        while "the server is at it" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        time.sleep(0.2)
        if how == "as a terminal does":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.terminate()
        said += process.communicate(timeout=SECONDS)[0]
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert not is_served(said)
    assert homes.left == []


def test_a_command_that_fails_is_said_and_the_folder_is_gone(homes: Homes) -> None:
    wrong = "from geocorgi.demo.story import Plan, main; main(Plan(level=9))"
    with shown(wrong, homes) as process:
        said = process.communicate(timeout=SECONDS)[0]
    assert process.returncode == 1
    assert "the demonstration ends here: geocorgi-server map ended with code 2" in said
    assert homes.left == []


def test_what_does_not_start_is_said_in_its_own_words(tmp_path: Path) -> None:
    wrong = ("geocorgi-server", "serve", "--map", "nowhere.json", "--port", "0")
    with (
        pytest.raises(CommandFailed, match=r"did not start: .*nowhere\.json"),
        Commands(tmp_path).started(*wrong),
    ):
        pass


@pytest.fixture(scope="module")
def provider(tmp_path_factory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("provider")
    with Commands(folder).started("python", "-m", "geocorgi.demo.pick_up") as url:
        yield url


def test_the_provider_answers_with_its_pick_up_nearest_to_the_report(provider: str) -> None:
    for place in pick_ups()[::16]:
        report = {"latitude": place[0] + 1e-4, "longitude": place[1] - 1e-4}
        assert ask(provider, report) == place


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"latitude": "x"}', b"0" * 3 * LARGEST_REPORT]
)
def test_what_is_no_report_is_refused(provider: str, body: bytes) -> None:
    (port,) = SERVED.findall(provider)
    connection = HTTPConnection("127.0.0.1", int(port), timeout=10)
    connection.request("POST", "/", body)
    assert connection.getresponse().status == 400
    connection.close()
