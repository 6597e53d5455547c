"""How a command is told the real location: standard input, a file, gpsd, and words if need be.

It is asked for last, when all that does not depend on it is done.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import typer

from geocorgi.device.gpsd import located_by_gpsd
from geocorgi.device.locating import located_in_file, located_in_stream, located_in_words
from geocorgi.device.whereabouts import Whereabouts
from geocorgi.errors import InvalidInput
from geocorgi.terminal import messages

# "-122.4" is a number here and no option.
PLACE_IN_WORDS = {"ignore_unknown_options": True}

Place = typer.Argument(
    None,
    metavar="[PLACE]",
    help="The real location, LAT,LON or an H3 cell. Better on standard input: others see words.",
    show_default=False,
)
FromFile = typer.Option(None, "--from", help="Read the real location from this file.")
FromGpsd = typer.Option(
    None, "--gpsd", help="Ask gpsd for it at this address, usually 127.0.0.1:2947."
)


def place_door(
    words: list[str] | None, file: Path | None, gpsd: str | None
) -> Callable[[], Whereabouts]:
    """Return the one door that was named, else standard input; it is opened by a call, later."""
    if sum(door is not None for door in (words or None, file, gpsd)) > 1:
        raise InvalidInput("choose one of standard input, --from, --gpsd and words")
    if any(word.startswith("--") for word in words or ()):
        raise InvalidInput("a word that begins with -- is no option of this command: see --help")
    if words:
        return partial(_in_words, words)
    if file is not None:
        return partial(located_in_file, file)
    if gpsd is not None:
        return partial(located_by_gpsd, gpsd)
    return _in_stream


def _in_stream() -> Whereabouts:
    if sys.stdin.isatty():
        messages.print("the real location, LAT,LON (it stays on this device):")
    return located_in_stream(sys.stdin)


def _in_words(words: list[str]) -> Whereabouts:
    messages.print(
        "[yellow]warning:[/yellow] words of a command are seen by others on this machine (ps) and "
        "kept in the shell's history; standard input, --from and --gpsd are not"
    )
    return located_in_words(words)
