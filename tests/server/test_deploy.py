"""What the operator's page gives to copy: units and configurations that work as they stand."""

from __future__ import annotations

import json
import re
import shutil
import ssl
import subprocess
import sys
from http.client import HTTPSConnection
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.deploy_examples import DEPLOY, example, free_port, nginx
from tests.server.running import running_here
from tests.server.stores import fill

PAGE = (REPOSITORY / "docs" / "how-to" / "run-a-server.md").read_text(encoding="utf-8")


def options_of(word: str) -> set[str]:
    """Return the options that a word of the operator's command has."""
    command = [sys.executable, "-m", "geocorgi.server.cli", word, "--help"]
    told = {"PATH": "", "COLUMNS": "200", "PYTHONPATH": ":".join(sys.path)}
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=told).stdout
    return set(re.findall(r"--[a-z-]+", said))


def test_the_page_shows_every_example():
    assert set(re.findall(r"\{literalinclude\} \.\./\.\./deploy/(\S+)", PAGE)) == {
        path.name for path in DEPLOY.iterdir()
    }


def test_the_examples_use_options_that_exist():
    unit = example("geocorgi-server.service")
    started = re.search(r"^ExecStart=\S+/geocorgi-server serve (.*)$", unit, re.MULTILINE).group(1)
    container = json.loads(re.search(r"^CMD (\[.*\])$", example("Containerfile"), re.M).group(1))
    used = {word for word in [*started.split(), *container] if word.startswith("--")}
    assert used <= options_of("serve")
    assert container[0] == "serve"


@pytest.mark.needs("systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path):
    unit = tmp_path / "geocorgi-server.service"
    unit.write_text(example(unit.name, **{"/usr/local/bin/geocorgi-server": sys.executable}))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    mine = [line for line in done.stderr.splitlines() if unit.name in line]
    assert mine == []


def test_the_container_is_made_of_what_is_there():
    """No test builds it: that needs the network and a daemon. Every line of it is looked at."""
    text = example("Containerfile")
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ")]
    for name in [name for names in copied for name in names]:
        assert (REPOSITORY / name).exists(), name
    assert "--require-hashes" in text
    assert re.search(r"^USER (?!root|0)", text, re.MULTILINE)
    (check,) = re.findall(r"^HEALTHCHECK .* CMD (\[.*\])$", text, re.MULTILINE)
    compile(json.loads(check)[-1], "health", "exec")


@pytest.mark.needs("nginx")
@pytest.mark.needs("openssl")
def test_behind_tls_the_service_answers_and_its_inside_is_not_shown(tmp_path: Path):
    fill(tmp_path / "store")
    certificate(tmp_path)
    port = free_port()
    with running_here(tmp_path / "store", tmp_path / "state") as server:
        places = {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "/etc/ssl/geocorgi": str(tmp_path),
            "127.0.0.1:8321": f"127.0.0.1:{server.port}",
        }
        with nginx(example("nginx-tls.conf", **places), port, tmp_path):
            assert fetched(port, "v1/map", tmp_path) == (200, server.get("v1/map").content)
            for inside in ("metrics", "health", "ready", "openapi.json", "v1/nothing"):
                assert fetched(port, inside, tmp_path)[0] == 404
    assert (tmp_path / "access.log").read_text() == ""


def certificate(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=geo.example", "-addext", "subjectAltName=DNS:geo.example,IP:127.0.0.1",
         "-keyout", folder / "key.pem", "-out", folder / "fullchain.pem"],
        check=True, capture_output=True,
    )  # fmt: skip


def fetched(port: int, address: str, folder: Path) -> tuple[int, bytes]:
    trusted = ssl.create_default_context(cafile=folder / "fullchain.pem")
    connection = HTTPSConnection("127.0.0.1", port, context=trusted, timeout=20)
    connection.request("GET", f"/{address}")
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def test_the_page_names_no_program_that_is_not_there():
    assert shutil.which("nginx") or "nginx" in PAGE
    assert not re.search(r"geocorgi-server (?!serve|map|forest|matrix|precompute|\$|--)\w+ ", PAGE)
