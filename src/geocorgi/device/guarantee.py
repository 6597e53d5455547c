"""What holds of a report, measured on the very matrix that it is drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from geocorgi.device.customising import Customised
from geocorgi.device.memory import Given
from geocorgi.device.policy import Policy, Precision
from geocorgi.matrix.precision import true_epsilon
from geocorgi.matrix.prunable import Rows


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The epsilon promised and the smallest that truly holds, between leaves of one subtree.

    ``void`` if S depends on where the user is: then no epsilon holds. ``exceptions`` are sentences
    on what the numbers do not cover.
    """

    promised_per_km: float
    between_leaves_per_km: float
    between_rows_per_km: float
    void: bool
    exceptions: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether what is reported keeps the promise."""
        return not self.void and self.between_leaves_per_km <= self.promised_per_km


def guarantee_of(policy: Policy, customised: Customised) -> Guarantee:
    """Measure what the user's matrix keeps, and say what it does not."""
    promised = customised.selection.request.epsilon_per_km
    kept = true_epsilon(customised.reported, customised.leaves.row_cells)
    return Guarantee(
        promised_per_km=promised,
        between_leaves_per_km=kept.between_leaves_per_km,
        between_rows_per_km=kept.between_rows_per_km,
        void=policy.voids_geo_ind,
        exceptions=tuple(_exceptions(policy, kept.between_leaves_per_km, promised)),
    )


def given_guarantee(fresh: Guarantee, given: Given) -> Guarantee:
    """Return what holds of what was given: of a replay, at least what its draw was charged."""
    drawn_at = given.drawn_at_per_km
    if given.fresh or drawn_at <= fresh.promised_per_km:
        return fresh
    said = (
        f"this cell was drawn before, at {drawn_at:.6g} per km, and keeps that: a fresh draw "
        f"(--anew) keeps {fresh.promised_per_km:g} and is charged"
    )
    between = max(fresh.between_leaves_per_km, drawn_at)
    return replace(fresh, between_leaves_per_km=between, exceptions=(*fresh.exceptions, said))


def _exceptions(policy: Policy, between_leaves_per_km: float, promised: float) -> list[str]:
    said = []
    if policy.voids_geo_ind:
        said.append(
            "geo-indistinguishability is void: a preference looks at the real location, so what is "
            "never reported tells where the user is"
        )
    if policy.precision is Precision.AVERAGE and between_leaves_per_km > promised:
        said.append(
            f"averaging rows keeps {between_leaves_per_km:.6g} per km between leaves, not "
            f"{promised:g}: 'coarsen' keeps it"
        )
    if policy.rows is Rows.DROP:
        said.append(
            "removed cells are not covered: every report proves that the user is in none of them"
        )
    return said
