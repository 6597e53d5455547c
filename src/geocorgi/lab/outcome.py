"""What an experiment leaves in a folder: its rows, its figure, and an account of both.

The rows as CSV and Parquet, the figure as SVG and PNG, the account as JSON.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from geocorgi.checkins.polars_door import pl
from geocorgi.errors import BadFile
from geocorgi.files import write_atomically
from geocorgi.lab.chart import png, svg
from geocorgi.lab.experiment import Experiment, Row, Setting
from geocorgi.lab.machine import machine
from geocorgi.lab.run import Measured
from geocorgi.terminal import finite

DIGITS = 12
Account = dict[str, Any]


def command_of(experiment: Experiment, setting: Setting) -> str:
    """Return the command that makes an experiment's figure again."""
    words = ["geocorgi-lab", "run", experiment.name]
    words += ["--quick"] if setting.quick else []
    words += [] if setting.data is None else ["--data", "FOLDER"]
    return " ".join([*words, "--seed", str(setting.seed)])


def write_outcome(found: Measured, setting: Setting, out: Path) -> Account:
    """Write NAME.csv, .parquet, .svg, .png and .json, each whole; return the account."""
    experiment, rows = found.experiment, found.rows
    command = command_of(experiment, setting)
    write_atomically(out / f"{experiment.name}.csv", as_csv(rows).encode())
    write_atomically(out / f"{experiment.name}.parquet", as_parquet(rows))
    panels = experiment.panels(rows)
    caption = rf"\$ {command}"  # a bare $ would begin mathematics
    write_atomically(out / f"{experiment.name}.svg", svg(panels, caption))
    write_atomically(out / f"{experiment.name}.png", png(panels, caption))
    claims = [] if experiment.claims is None else experiment.claims(rows)
    account: Account = {
        "name": experiment.name,
        "title": experiment.title,
        "question": experiment.question,
        "command": command,
        "city": setting.city,
        "quick": setting.quick,
        "seed": setting.seed,
        "about_people": experiment.about_people,
        "findings": experiment.findings(rows),
        "claims": [{name: getattr(claim, name) for name in claim.__slots__} for claim in claims],
        "seconds_of_cases": found.seconds,
        "processor_seconds": found.processor_seconds,
        "cases_of_other_code": found.older,
        "wall_seconds": None if found.resumed else found.wall_seconds,
        "machine": machine(),
    }
    content = json.dumps(finite(account), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(out / f"{experiment.name}.json", f"{content}\n".encode())
    return account


def read_accounts(out: Path, names: tuple[str, ...]) -> list[Account]:
    """Return the accounts that are in the folder, in the order of the names."""
    accounts = []
    for name in names:
        path = out / f"{name}.json"
        if not path.exists():
            continue
        try:
            accounts.append(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as refusal:
            raise BadFile(f"{path.name} is no account of an experiment: run it again") from refusal
    return accounts


def as_csv(rows: list[Row]) -> str:
    """Return the rows as CSV under one header; numbers have ten digits."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_written(row.get(name)) for name in names] for row in rows)
    return text.getvalue()


def as_parquet(rows: list[Row]) -> bytes:
    """Return the rows as Parquet, whole numbers as such where a column has no others."""
    out = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(out)
    return out.getvalue()


def _written(value: float | str | None) -> str:
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    return "" if value is None else str(value)
