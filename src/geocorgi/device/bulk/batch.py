"""One batch of rows: where each user is becomes what she reports, and nothing else leaves.

In the order of the rows: a row outside the map is withheld; so is one whose place has no row in the
mechanism (with ``rows = "drop"``, from a removed place); so is every row of a user whose budget no
longer fits another draw, for places drawn before and new ones alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from geocorgi.checkins.leaf_places import OUTSIDE, LeafPlaces
from geocorgi.checkins.polars_door import pl
from geocorgi.device.bulk.job import REPORTED, Job
from geocorgi.device.bulk.mechanism import NO_ROW, Mechanism
from geocorgi.device.bulk.memory import BulkMemory
from geocorgi.tree import cells


@dataclass(frozen=True, slots=True)
class Tools:
    """What every batch of a bucket is done with."""

    job: Job
    places: LeafPlaces
    mechanism: Mechanism
    memory: BulkMemory
    ancestors: dict[str, str]


@dataclass(frozen=True, slots=True)
class Released:
    """The rows that leave, what was drawn and charged for them, and the account of the batch."""

    frame: pl.DataFrame
    drawn: Mapping[bytes, str]
    draws: Mapping[bytes, int]
    account: Mapping[str, int]


def release(rows: pl.DataFrame, tools: Tools, now: datetime) -> Released:
    """Return what leaves of the rows; the memory is only asked, and told by the caller."""
    found = tools.places.of(rows)
    inside = found != OUTSIDE
    with_row = inside & (tools.mechanism.matrix_of[found] != NO_ROW)
    table = rows.select("user", place=pl.Series(found)).with_row_index("row")
    usable = table.filter(pl.Series(with_row, dtype=pl.Boolean))
    pairs = _remembered(usable.unique(["user", "place"], keep="first", maintain_order=True), tools)
    usable = _within_budget(usable, pairs, tools, now)
    allowed = usable.filter("allowed")
    first = pairs.join(allowed.select("row"), on="row", how="semi", maintain_order="left")
    fresh = first.filter(pl.col("drawn").is_null())
    answers = tools.mechanism.draw(fresh["place"].to_numpy())
    fresh = fresh.with_columns(drawn=pl.Series(answers, dtype=pl.String))
    drawn = pl.concat([first.filter(pl.col("drawn").is_not_null()), fresh])
    told = allowed.join(
        drawn.select("user", "place", "drawn"), on=["user", "place"], maintain_order="left"
    )
    counted = {
        "rows": len(rows),
        "outside": int((~inside).sum()),
        "in_removed_places": int((inside & ~with_row).sum()),
        "over_budget": len(usable) - len(allowed),
        "reported": len(told),
        "fresh_draws": len(fresh),
    }
    by_owner = fresh.group_by("user").len()
    return Released(
        _leaving(rows, told, tools),
        dict(zip(fresh["name"], answers, strict=True)),
        {tools.memory.owner(user): count for user, count in by_owner.iter_rows()},
        counted,
    )


def _remembered(pairs: pl.DataFrame, tools: Tools) -> pl.DataFrame:
    """Return the pairs of user and place with their names and what was drawn for them, if valid."""
    leaves = tools.mechanism.leaves
    names = [
        tools.memory.place(user, leaves[place])
        for user, place in zip(pairs["user"], pairs["place"], strict=True)
    ]
    known = tools.memory.remembered(names)
    drawn = [known.get(name) for name in names]
    on_map, removed = tools.places.positions, tools.mechanism.removed
    still = [leaf if leaf in on_map and leaf not in removed else None for leaf in drawn]
    return pairs.with_columns(
        name=pl.Series(names, dtype=pl.Binary), drawn=pl.Series(still, dtype=pl.String)
    )


def _within_budget(
    usable: pl.DataFrame, pairs: pl.DataFrame, tools: Tools, now: datetime
) -> pl.DataFrame:
    """Return the rows and whether, before each of them, another draw of its user still fits."""
    if tools.job.budget.ceiling_per_km is None:
        return usable.with_columns(allowed=pl.lit(value=True))
    users = usable["user"].unique().to_list()
    left = pl.DataFrame(
        {"user": users, "left": _draws_left(users, tools, now)},
        schema={"user": pl.String, "left": pl.Int64},
    )
    new = pairs.filter(pl.col("drawn").is_null()).select("row", new=pl.lit(1, pl.Int64))
    marked = usable.join(new, on="row", how="left", maintain_order="left").join(
        left, on="user", how="left", maintain_order="left"
    )
    before = pl.col("new").fill_null(0).cum_sum().over("user") - pl.col("new").fill_null(0)
    return marked.select("row", "user", "place", allowed=before < pl.col("left"))


def _draws_left(users: Sequence[str], tools: Tools, now: datetime) -> list[int]:
    owners = [tools.memory.owner(user) for user in users]
    spent = tools.memory.spent(owners, tools.job.budget, now)
    ceiling = Decimal(repr(tools.job.budget.ceiling_per_km))
    cost = Decimal(repr(tools.job.epsilon_per_km))
    rest = (ceiling - spent.get(owner, Decimal(0)) for owner in owners)
    return [max(0, int(one / cost)) for one in rest]


def _leaving(rows: pl.DataFrame, told: pl.DataFrame, tools: Tools) -> pl.DataFrame:
    """Return the kept columns of the rows that are told, in their order, and the reported cell."""
    job = tools.job
    own = {job.columns.user: "user", job.columns.time: "time"}
    kept = [pl.col(own.get(name, f"kept {name}")).alias(name) for name in job.keep]
    reported = [_ancestor(leaf, tools) for leaf in told["drawn"]]
    cell = pl.Series(REPORTED, reported, dtype=pl.String)
    return pl.DataFrame([*rows[told["row"]].select(kept), cell])


def _ancestor(leaf: str, tools: Tools) -> str:
    if leaf not in tools.ancestors:
        tools.ancestors[leaf] = cells.ancestor(leaf, tools.job.resolution)
    return tools.ancestors[leaf]
