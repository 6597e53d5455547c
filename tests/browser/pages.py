"""The user's page in a process of its own, and a real Chromium that opens it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, Playwright

from tests.server.running import wait_for

CHROMIUM = shutil.which("chromium")
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    # It would ask after updates of itself and for an account all the same.
    "--component-updater=url-source=http://127.0.0.1:9/", "--gaia-url=http://127.0.0.1:9/",
]  # fmt: skip
SECONDS = 20.0


class Served:
    """A page that is being served: its address, its process, its folders."""

    def __init__(self, process: subprocess.Popen[str], said: list[str], folder: Path) -> None:
        self.process, self.said = process, said
        self.data, self.working_folder = folder / "data", folder / "working"
        found = wait_for(lambda: _address(said, process))
        self.address, self.port = found[0], int(found[1])

    @property
    def key(self) -> str:
        return self.address.partition("key=")[2]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(SECONDS)


@contextmanager
def served(folder: Path, *options: object) -> Iterator[Served]:
    """Lend the page of a device whose data lie in the folder."""
    for name in ("data", "working"):
        (folder / name).mkdir(exist_ok=True)
    command = [sys.executable, "-m", "geocorgi.cli.main", "app", "--no-browser"]
    process = subprocess.Popen(
        [*command, *(str(option) for option in options)],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder / "working",
        env=os.environ | {"GEOCORGI_DATA": str(folder / "data"), "COLUMNS": "400"},
    )
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.extend(iter(process.stderr.readline, "")))
    try:
        reader.start()
        yield Served(process, said, folder)
    finally:
        process.kill()
        process.wait()
        reader.join()
        process.stderr.close()


def launched(playwright: Playwright, proxy_port: int) -> Browser:
    """Return a Chromium that itself asks nobody; what is not loopback goes through the proxy."""
    arguments = [*QUIET, f"--proxy-server=127.0.0.1:{proxy_port}"]
    return playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=arguments)


def opened(browser: Browser | BrowserContext, page: Served, **context: object) -> Page:
    """Return the page in a window (of a browser: in a context of its own), once it is alive."""
    window = (
        browser.new_context(**context) if isinstance(browser, Browser) else browser
    ).new_page()
    window.set_default_timeout(SECONDS * 1000)
    window.goto(page.address)
    window.get_by_role("heading", name="geocorgi").wait_for()
    return window


def _address(said: list[str], process: subprocess.Popen[str]) -> tuple[str, str] | None:
    found = re.search(r"(http://127\.0\.0\.1:(\d+)/open\?key=[\w-]+)", "".join(said))
    if found is None and process.poll() is not None:
        raise ChildProcessError("".join(said))
    return (found[1], found[2]) if found else None
