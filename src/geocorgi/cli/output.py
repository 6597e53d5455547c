"""How the command speaks: tables for people, one JSON object for programs."""

from __future__ import annotations

import json
import math
from typing import Any

import typer
from rich.console import Console

console = Console(highlight=False)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; JSON has no infinity, so an infinite number is ``null``."""
    typer.echo(json.dumps(_finite(value), indent=2, allow_nan=False, ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
