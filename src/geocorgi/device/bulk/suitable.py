"""Which policies a release can follow: those that mean the same for every user of a file."""

from __future__ import annotations

from geocorgi.device.policy import AtCeiling, Policy, Precision
from geocorgi.device.preferences import PERSONAL
from geocorgi.errors import InvalidPolicy


def require_suitable(policy: Policy) -> Policy:
    """Return the policy if many users can be released under it, or refuse it."""
    if policy.voids_geo_ind:
        raise InvalidPolicy("a preference looks at where the user is: nothing is promised of that")
    if policy.precision is not Precision.COARSEN:
        raise InvalidPolicy('a release remembers its draws: precision = "coarsen"')
    if policy.budget.at_ceiling is AtCeiling.REPEAT:
        raise InvalidPolicy(
            'a release withholds what is over a user\'s budget: at_ceiling = "refuse"'
        )
    for preference in policy.preferences:
        if preference.variable in PERSONAL and preference.variable not in policy.sources:
            raise preference.refused(
                f"'{preference.variable}' is one person's, and a release is of many users' rows: "
                "leave it out, or name cells for all of them in a black list"
            )
    return policy
