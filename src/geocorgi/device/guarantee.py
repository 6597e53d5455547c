"""What holds of a report, measured on the very matrix that it is drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from geocorgi.device.customising import Customised
from geocorgi.device.memory import Given, Terms
from geocorgi.device.policy import Policy, Precision
from geocorgi.matrix.precision import true_epsilon
from geocorgi.matrix.prunable import Rows


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The epsilon promised and the smallest that truly holds, between leaves of one subtree.

    ``void`` if S depends on where the user is: then no epsilon holds. ``narrower`` if what is given
    again was drawn for a smaller subtree, or for fewer real places, than a fresh draw would be.
    ``exceptions`` are sentences on what the numbers do not cover.
    """

    promised_per_km: float
    between_leaves_per_km: float
    between_rows_per_km: float
    void: bool
    exceptions: tuple[str, ...]
    narrower: bool = False

    @property
    def holds(self) -> bool:
        """Whether what is reported keeps the promise."""
        sound = not (self.void or self.narrower)
        return sound and self.between_leaves_per_km <= self.promised_per_km


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


def given_guarantee(fresh: Guarantee, given: Given, terms: Terms) -> Guarantee:
    """Return what holds of what was given: of a replay, no more than its draw keeps."""
    keeps, said = given.keeps, []
    if given.fresh:
        return fresh
    if keeps.epsilon_per_km > fresh.promised_per_km:
        said.append(f"at {keeps.epsilon_per_km:.6g} per km, not {fresh.promised_per_km:g}")
    smaller = keeps.area_resolution > terms.area_resolution
    if smaller:
        said.append("within a subtree of a lower privacy level, and tells which one")
    fewer = keeps.rows is Rows.DROP and terms.rows is Rows.KEEP
    if fewer:
        said.append("for places outside of what was removed then: it proves to be from one of them")
    sentences = (
        f"this cell was drawn before, {one}, and keeps that: a fresh draw (--anew) keeps what is "
        "asked for now and is charged"
        for one in said
    )
    between = max(fresh.between_leaves_per_km, keeps.epsilon_per_km)
    return replace(
        fresh,
        between_leaves_per_km=between if said else fresh.between_leaves_per_km,
        exceptions=(*fresh.exceptions, *sentences),
        narrower=smaller or fewer,
    )


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
