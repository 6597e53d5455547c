"""After each failure, with tracebacks on: the real location is in nothing that was said or written.

Looked for are its digits, its leaf by name, as a number and as bytes, in both streams, in the log
and in every file that is new or changed anywhere below the user's folders, temporary ones included.
"""

from __future__ import annotations

import io
import logging
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from geocorgi.cli.main import run
from geocorgi.device import obfuscate as spine
from geocorgi.device.ledger import Ledger
from geocorgi.device.whereabouts import WITHHELD
from geocorgi.matrix.forest_file import forest_bytes
from geocorgi.tree import cells
from tests.cli.command import said
from tests.cli.published import MAP, publish
from tests.wire.maps import LEAVES

LEAF = LEAVES[9]
FINER = cells.descendants(LEAF, MAP.leaf_resolution + 3)[180]
LATITUDE, LONGITUDE = cells.centre(FINER)
HERE = f"{LATITUDE},{LONGITUDE}"
NEEDLES = [
    *(text.encode() for text in (f"{LATITUDE:.5f}"[:-1], f"{LONGITUDE:.5f}"[:-1], LEAF, FINER)),
    *(str(int(cell, 16)).encode() for cell in (LEAF, FINER)),
    *(struct.pack(form, int(LEAF, 16)) for form in ("<Q", ">Q")),
    *(struct.pack(form, number) for form in ("<d", ">d") for number in (LATITUDE, LONGITUDE)),
]
PLAIN = "privacy_level = 1\n"
HOME = f'black_list = ["{LEAF}"]\n'
FIVE = "black_list = [" + ", ".join(f'"{leaf}"' for leaf in LEAVES[7:12]) + "]\n"
Capsys = pytest.CaptureFixture[str]


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lend a user's folders: data, cache, temporary files, and a working folder with the map."""
    monkeypatch.delenv("GEOCORGI_SERVER", raising=False)
    for name, variable in (("data", "GEOCORGI_DATA"), ("cache", "GEOCORGI_CACHE"), ("t", "TMPDIR")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    publish(tmp_path)
    (tmp_path / "policy.toml").write_text(PLAIN, encoding="utf-8")
    return tmp_path


def no_map(device: Path) -> None:
    (device / "map.json").unlink()


def damaged_map(device: Path) -> None:
    (device / "map.json").write_bytes((device / "map.json").read_bytes()[:-1])


def no_forest(device: Path) -> None:
    for path in device.glob("*.safetensors"):
        path.unlink()


def damaged_forests(device: Path) -> None:
    for path in device.glob("*.safetensors"):
        path.write_bytes(path.read_bytes()[:-8])


def hostile_forests(device: Path) -> None:
    from tests.device.test_acceptance import identity  # noqa: PLC0415

    no_forest(device)
    (device / "hostile.safetensors").write_bytes(forest_bytes(identity()))


def policy(text: str) -> Callable[[Path], None]:
    return lambda device: (device / "policy.toml").write_text(text, encoding="utf-8")


def ceiling_reached(device: Path) -> None:
    policy(PLAIN + "[budget]\nceiling_per_km = 1.0\n")(device)


def damaged_ledger(device: Path) -> None:
    with Ledger(device / "data"):
        pass
    (device / "data" / "ledger.sqlite").write_bytes(b"x" * 5_000)


def damaged_secret(device: Path) -> None:
    with Ledger(device / "data"):
        pass
    (device / "data" / "secret.key").write_bytes(b"short")


def no_folder(device: Path) -> None:
    (device / "data").rmdir()
    (device / "data").write_bytes(b"")


def nothing_wrong(_device: Path) -> None:
    """Leave everything as it is."""


FILES = ("--map", "map.json", "--policy", "policy.toml")
FAILURES = {
    "no map": (no_map, FILES, HERE),
    "a damaged map": (damaged_map, FILES, HERE),
    "no forest": (no_forest, FILES, HERE),
    "damaged forests": (damaged_forests, FILES, HERE),
    "hostile forests": (hostile_forests, (*FILES, "--forests", "hostile.safetensors"), HERE),
    "a policy of nonsense": (policy("privacy_level = [\n"), FILES, HERE),
    "an unknown variable": (policy(PLAIN + "preferences = ['x = 1']\n"), FILES, HERE),
    "an unknown home": (policy(PLAIN + "preferences = ['home = False']\n"), FILES, HERE),
    "standing in S": (policy(PLAIN + 'rows = "drop"\n' + HOME), FILES, HERE),
    "too many": (policy(PLAIN + 'on_excess = "refuse"\n' + FIVE), FILES, HERE),
    "a level that is not offered": (policy("privacy_level = 3\n"), FILES, HERE),
    "at the ceiling": (ceiling_reached, FILES, HERE),
    "a damaged ledger": (damaged_ledger, FILES, HERE),
    "a damaged secret": (damaged_secret, FILES, HERE),
    "no data folder": (no_folder, FILES, HERE),
    "nonsense beside the location": (nothing_wrong, FILES, HERE + "x"),
    "three numbers": (nothing_wrong, FILES, HERE + ",12"),
    "swapped": (nothing_wrong, FILES, f"{LONGITUDE},{LATITUDE}"),
    "not quite GeoJSON": (
        nothing_wrong,
        FILES,
        f'{{"type": "Point", "coordinates": [{LONGITUDE}, "{LATITUDE}"]}}',
    ),
    "no such option": (nothing_wrong, (*FILES, "--jsn", HERE), ""),
    "words of nonsense": (nothing_wrong, (*FILES, HERE + "x"), ""),
    "no such server": (nothing_wrong, ("--server", "https://geo.example/", "--offline"), HERE),
}


@pytest.mark.parametrize("command", ["report", "explain"])
@pytest.mark.parametrize("name", FAILURES)
def test_after_a_failure(
    name: str, command: str, device: Path, capsys: Capsys, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    spoil, words, stdin = FAILURES[name]
    spoil(device)
    before = snapshot(device)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(stdin))
        code, out, err = said(capsys, "--debug", command, *words)
    if (name, command) == ("at the ceiling", "explain"):
        return  # nothing is charged, so nothing fails
    assert code == 2
    assert "Traceback" in err
    assert_nowhere(out.encode(), err.encode(), caplog.text.encode(), *written(device, before))


def test_after_a_success(device: Path, capsys: Capsys, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    policy(PLAIN + HOME)(device)  # else the real leaf may rightly be the one that is reported
    before = snapshot(device)
    with pytest.MonkeyPatch.context() as patch:
        for words in ((), ("--anew", "--json"), ("--geojson",)):
            patch.setattr("sys.stdin", io.StringIO(HERE))
            code, out, err = said(capsys, "report", *FILES, *words)
            assert code == 0
            assert_nowhere(out.encode(), err.encode(), caplog.text.encode())
    files = dict(written_files(device, before))
    assert {path.name for path in files} >= {"ledger.sqlite", "secret.key"}
    assert_nowhere(*files.values())


@pytest.mark.parametrize("step", ["prepare", "customised_for", "guarantee_of", "terms_of", "draw"])
def test_a_crash_report_with_the_values_of_all_variables_is_the_same_for_every_place(
    step: str, device: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Such a report may well show the public map, and with it every leaf by name.
    def crash(*_arguments: object, **_more: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(spine, step, crash)
    before = snapshot(device)
    shown = {crash_report(place, monkeypatch) for place in (HERE, LEAF, LEAVES[8], LEAVES[10])}
    assert len(shown) == 1
    (report,) = shown
    assert "out of luck" in report
    assert (WITHHELD in report) is (step != "prepare")  # until then nobody has asked for it
    assert f"{LATITUDE:.5f}"[:-1] not in report
    assert_nowhere(*written(device, before))


def crash_report(place: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO(place))
    with pytest.raises(RuntimeError) as crashed:
        run(["report", *FILES])
    told = traceback.TracebackException.from_exception(crashed.value, capture_locals=True)
    del told.stack[0]  # this function's own variables
    # Addresses, the time, and the place's name under the device's secret differ by themselves.
    own = r"0x[0-9a-f]+|datetime\.datetime\([^)]*\)|    place = b.*"
    return re.sub(own, "", "".join(told.format()))


def test_a_server_is_asked_before_the_device_asks_where_the_user_is(device: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with started("--server", server) as process:  # nothing comes on standard input
            listener.settimeout(60)
            connection, _ = listener.accept()
            with connection:
                heard = connection.recv(10_000)
                process.kill()
                process.communicate()
    assert heard.startswith(b"GET /v1/map")


def test_after_a_kill_in_the_middle(device: Path) -> None:
    with Ledger(device / "data"):
        pass
    before = snapshot(device)
    held = sqlite3.connect(device / "data" / "ledger.sqlite", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    with closing(held), started(*FILES) as process:
        assert process.stdin is not None
        process.stdin.write(HERE.encode() + b"\n")
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not list(device.glob("data/verdicts/*.verdict")) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)  # it has read the location by now, and waits for the ledger
        os.kill(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    assert_nowhere(out, err, *written(device, before))


def started(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "geocorgi.cli.main", "report", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_the_needles_are_found_where_they_are() -> None:
    for text in (HERE, f"at {LEAF}", repr((LATITUDE, LONGITUDE))):
        with pytest.raises(AssertionError, match="was told"):
            assert_nowhere(text.encode())
    with pytest.raises(AssertionError, match="was told"):
        assert_nowhere(np.array([LATITUDE]).tobytes())


def snapshot(device: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in device.rglob("*") if path.is_file()}


def written_files(device: Path, before: dict[Path, bytes]) -> Iterator[tuple[Path, bytes]]:
    """Yield every file that is new or changed."""
    for path, content in snapshot(device).items():
        if before.get(path) != content:
            yield path, content


def written(device: Path, before: dict[Path, bytes]) -> list[bytes]:
    found = list(written_files(device, before))
    return [content for _, content in found] + [str(path).encode() for path, _ in found]


def assert_nowhere(*told: bytes) -> None:
    for content in told:
        for needle in NEEDLES:
            assert needle not in content, "the real location was told"
