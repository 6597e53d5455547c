"""``geocorgi app``: the user's own page, served to her own browser on this machine."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from geocorgi.cli.device_option import (
    USUAL_POLICY,
    DeviceOption,
    asks_for_matrices,
    lent_device,
)
from geocorgi.cli.waiting import Waiting
from geocorgi.device.app.backdrop import WARNING, Backdrop, TileAddress, TileFile
from geocorgi.device.app.guard import new_key
from geocorgi.device.app.job import Job
from geocorgi.device.app.listening import address_of, keep_framework_state_in, listening
from geocorgi.device.app.origin import Origin
from geocorgi.device.data_folder import data_folder, private_folder
from geocorgi.device.gpsd import USUAL_ADDRESS
from geocorgi.device.http_source import said_of
from geocorgi.device.preparation import Device
from geocorgi.errors import InvalidInput, MissingExtra
from geocorgi.terminal import messages
from geocorgi.wire.build_progress import BuildProgress, State

HELP_EXTRA = "the page needs an extra: pip install 'geocorgi[app]'"


@asks_for_matrices
def app_command(
    option: DeviceOption,
    port: int = typer.Option(0, min=0, max=65_535, help="Listen here; 0: any free port."),
    browser: bool = typer.Option(True, help="Open the browser."),
    gpsd: str = typer.Option(USUAL_ADDRESS, help="Where gpsd is asked, if you want it to be."),
    mbtiles: Path | None = typer.Option(None, help="Lay the tiles of this file under the map."),
    tiles: str | None = typer.Option(
        None, help="Lay tiles of this address there: whoever serves them learns where you look."
    ),
) -> None:
    """Open a page of your own: a map, your policy, what it comes to, and reports.

    It is served on this machine alone, to the browser that is opened with the printed address and
    to no other. Nothing is loaded from anywhere else, and no address holds a place.

    Example: [bold]geocorgi app --server https://geo.example/[/bold]
    """
    folder = data_folder()
    backdrop = _backdrop(mbtiles, tiles)
    keep_framework_state_in(private_folder(folder / "page"))
    page = _page(option, folder, backdrop, gpsd)
    key = new_key()
    with listening(port) as listener:
        address = address_of(listener, key)
        messages.print(f"the page is at [bold]{address}[/bold] (Ctrl-C ends it)", soft_wrap=True)
        if browser:
            webbrowser.open(address)
        from geocorgi.device.app.serving import serve  # noqa: PLC0415 - after the page's own extra

        serve(page, listener, {"key": key, "tiles_from": getattr(backdrop, "origin", None)})


def _backdrop(mbtiles: Path | None, tiles: str | None) -> Backdrop | None:
    if mbtiles is not None and tiles is not None:
        raise InvalidInput("choose one of --mbtiles and --tiles")
    if tiles is not None:
        messages.print(f"[yellow]warning:[/yellow] {WARNING}")
        return TileAddress(tiles)
    return None if mbtiles is None else TileFile(mbtiles)


def _page(
    option: DeviceOption, folder: Path, backdrop: Backdrop | None, gpsd: str
) -> Callable[[], None]:
    try:
        from geocorgi.device.app.desk import Extras  # noqa: PLC0415 - an extra that only this needs
        from geocorgi.device.app.page import page_of  # noqa: PLC0415
        from geocorgi.device.app.session import Session  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if missing.name and missing.name.partition(".")[0] == "geocorgi":
            raise
        raise MissingExtra(HELP_EXTRA) from None
    origin = None
    if option.map_file is not None or option.server.server is not None:
        origin = Origin(option.server.server, option.map_file, option.forests)
    session = Session(_Door(option), folder, option.policy_file or folder / USUAL_POLICY, origin)
    session.begin()
    return page_of(session, Extras(backdrop, gpsd))


@dataclass(frozen=True, slots=True)
class _Door:
    """Opens the device for the page, by what the command was told and what the page adds."""

    option: DeviceOption

    @contextmanager
    def __call__(self, origin: Origin, job: Job) -> Iterator[Device]:
        option = replace(
            self.option,
            map_file=origin.map_file,
            forests=origin.forests,
            server=replace(self.option.server, server=origin.server),
        )
        with lent_device(option, _Heard(job)) as device:
            yield device


class _Heard(Waiting):
    """What a wait says goes to the page, which may answer that it is no longer wanted."""

    def __init__(self, job: Job) -> None:
        super().__init__(as_json=False)
        self.job = job

    def say(self, sentence: str) -> None:
        """Say a sentence to the page."""
        self.job.say(sentence)

    def building(self, progress: BuildProgress) -> None:
        """Say how far the server is; Stop loses nothing of it."""
        if progress.state is State.QUEUED:
            self.job.say(f"the server is at it: {said_of(progress)}")
        else:
            self.job.say("the server builds the forest, subtree", progress.done, progress.subtrees)

    def counting(self, what: str, after_seconds: float = 0.0) -> Callable[[int, int], None]:
        """Return a callback that counts, for the page's bar, from the first on."""
        del after_seconds
        return lambda done, of: self.job.say(what, done, of)
