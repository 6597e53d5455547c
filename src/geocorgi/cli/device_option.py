"""What commands that report have in common: the policy, the map and forests, and the device."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial, wraps
from pathlib import Path
from typing import Any

import typer

from geocorgi.cli.server_option import (
    MapId,
    Offline,
    PinsDigest,
    PlainHttp,
    Proxy,
    ServerOption,
    ServerUrl,
    asked_server,
)
from geocorgi.cli.waiting import Waiting
from geocorgi.device.attributes.gathering import gatherer
from geocorgi.device.data_folder import data_folder
from geocorgi.device.file_source import ForestFiles, MapFile
from geocorgi.device.ledger import Ledger
from geocorgi.device.policy import Policy
from geocorgi.device.policy_file import read_policy
from geocorgi.device.preparation import Device
from geocorgi.device.secret import device_secret
from geocorgi.device.transport import ForestSource, MapSource
from geocorgi.device.verdicts import Verdicts
from geocorgi.errors import InvalidInput
from geocorgi.wire.map_codec import decode_map

USUAL_POLICY = "policy.toml"
SIMPLEST = Policy(2, 0)
QUIET_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class DeviceOption:
    """What a user said about her policy and where maps and forests come from."""

    policy_file: Path | None
    map_file: Path | None
    forests: Path | None
    server: ServerOption

    def __post_init__(self) -> None:
        """Refuse forests without their map."""
        if self.forests is not None and self.map_file is None:
            raise InvalidInput("--forests go with the --map that they are for")


def _said(
    policy: Path | None = typer.Option(
        None,
        help="The policy; else policy.toml of the data folder; else hide among 49 cells, remove "
        "none.",
    ),
    map_file: Path | None = typer.Option(
        None, "--map", help="The public map, a file; or name a --server."
    ),
    forests: Path | None = typer.Option(
        None, help="Forests for that map, a file or a folder; else the map's own folder."
    ),
    server: str | None = ServerUrl,
    map_id: str | None = MapId,
    pins: str | None = PinsDigest,
    proxy: str | None = Proxy,
    plain_http: list[str] = PlainHttp,
    offline: bool = Offline,
) -> DeviceOption:
    asked = ServerOption(server, map_id, pins, proxy, plain_http, offline)
    return DeviceOption(policy, map_file, forests, asked)


def asks_for_matrices(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that its ``option`` is made of, in the place where it stands."""
    own, shared = (inspect.signature(one, eval_str=True) for one in (command, _said))
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, one in own.parameters.items()
        for parameter in (shared.parameters.values() if name == "option" else [one])
    ]

    @wraps(command)
    def asking(**given: Any) -> None:
        said = {name: given.pop(name) for name in shared.parameters}
        command(option=_said(**said), **given)

    asking.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    asking.__annotations__ = {one.name: one.annotation for one in parameters}
    return asking


@contextmanager
def device_at_hand(
    option: DeviceOption, waiting: Waiting, dwell_minutes: float = 0.0
) -> Iterator[tuple[Policy, Device]]:
    """Lend the policy, typed by the map, and the device."""
    policy_file = option.policy_file or data_folder() / USUAL_POLICY
    with lent_device(option, waiting, dwell_minutes) as device:
        if option.policy_file is None and not policy_file.exists():
            yield SIMPLEST, device
        else:
            yield read_policy(policy_file, decode_map(device.maps.public_map())), device


@contextmanager
def lent_device(
    option: DeviceOption, waiting: Waiting, dwell_minutes: float = 0.0
) -> Iterator[Device]:
    """Lend the device: its ledger, and whom it asks."""
    folder = data_folder()
    secret = device_secret(folder)
    policy_file = option.policy_file or folder / USUAL_POLICY
    with ExitStack() as stack:
        maps, forests = stack.enter_context(_asked(option, waiting))
        ledger = stack.enter_context(Ledger(folder))
        yield Device(
            maps=maps,
            forests=forests,
            memory=ledger,
            secret=secret,
            attributes=gatherer(
                policy_file.parent, folder, option.server.proxy, offline=option.server.offline
            ),
            settle=partial(ledger.settle, dwell=timedelta(minutes=dwell_minutes)),
            verdicts=Verdicts(folder / "verdicts", secret),
            on_progress=waiting.counting("checking the forest, subtree", QUIET_SECONDS),
        )


@contextmanager
def _asked(option: DeviceOption, waiting: Waiting) -> Iterator[tuple[MapSource, ForestSource]]:
    if option.map_file is not None:
        folder = option.forests or option.map_file.parent
        yield MapFile(option.map_file), ForestFiles(folder)
        return
    if option.server.server is None:
        raise InvalidInput("name the map: --map FILE, or --server https://geo.example/")
    with asked_server(option.server, waiting) as source:
        yield source, source
