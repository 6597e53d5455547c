"""Check-ins in two disjoint parts: one to learn priors from, one to draw real locations from.

Paper: §6.2 splits Gowalla into 90 % for training and 10 % for testing, by row. Splitting by user
keeps everything of one person on one side, which is what to do when persons are what is tested.

Every row (or user) is drawn on its own with probability ``test_share``: the part has that share
up to chance (for 17,401 rows and a share of 0.1, within 0.7 points three times in a thousand
excepted), and a file of any size is split in one lazy pass. Drawing depends on the seed and on the
ordinal of the good row (or on the user's name), never on batches, threads or versions of NumPy:
it uses raw PCG64 output (or BLAKE2b), whose streams are fixed.

Both parts give the account of all bad rows; of the good rows each counts its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocorgi.checkins.polars_door import pl
from geocorgi.checkins.readers import Checkins
from geocorgi.checkins.rows import Batch
from geocorgi.errors import InvalidInput
from geocorgi.seeded import require_seed

TEST_SHARE = 0.1


class SplitBy(StrEnum):
    """What goes to one side as a whole."""

    ROW = "row"
    USER = "user"


class Split(NamedTuple):
    """The two parts; together they are the whole, in the same order, and they share no row."""

    train: Checkins
    test: Checkins


@dataclass(frozen=True, slots=True)
class _Rule:
    by: SplitBy
    test_share: float
    seed: int


@dataclass(frozen=True, slots=True)
class Part:
    """The check-ins of ``whole`` that a rule puts on one side."""

    whole: Checkins
    side: str
    rule: _Rule

    @property
    def name(self) -> str:
        """The name of the whole and the side."""
        return f"{self.whole.name} ({self.side})"

    def batches(self) -> Iterator[Batch]:
        """Yield this side's good rows, and the account of them and of all bad rows."""
        drawn = np.random.PCG64(self.rule.seed)
        for batch in self.whole.batches():
            if self.rule.by is SplitBy.ROW:
                draws = drawn.random_raw(len(batch.frame))
            else:
                draws = _draws_of_users(batch.frame["user"], self.rule.seed)
            tested = draws < np.uint64(int(self.rule.test_share * 2**64))
            mine = pl.Series(tested if self.side == "test" else ~tested, dtype=pl.Boolean)
            frame = batch.frame.filter(mine)
            others = len(batch.frame) - len(frame)
            report = replace(batch.report, source=self.name, rows_in=batch.report.rows_in - others)
            yield Batch(frame, report)


def split(
    checkins: Checkins,
    *,
    seed: int,
    by: SplitBy = SplitBy.ROW,
    test_share: float = TEST_SHARE,
) -> Split:
    """Return the check-ins in two parts, of which ``test`` has about ``test_share`` of the rows.

    By user, the share is one of users. Rows without a user cannot be split by user.
    """
    if not 0 < test_share < 1:
        raise InvalidInput("the test share is between 0 and 1, both excluded, such as 0.1")
    require_seed(seed)
    rule = _Rule(SplitBy(by), test_share, seed)
    return Split(Part(checkins, "train", rule), Part(checkins, "test", rule))


def _draws_of_users(users: pl.Series, seed: int) -> NDArray[np.uint64]:
    if users.null_count():
        raise InvalidInput("these check-ins have no users to split them by; split them by row")
    different = users.unique().to_list()
    key = blake2b(str(seed).encode()).digest()
    draws = [
        int.from_bytes(blake2b(user.encode(), digest_size=8, key=key).digest(), "little")
        for user in different
    ]
    table = pl.DataFrame(
        {"user": different, "draw": draws}, schema={"user": pl.String, "draw": pl.UInt64}
    )
    joined = users.to_frame().join(table, on="user", how="left", maintain_order="left")
    return joined["draw"].to_numpy()
