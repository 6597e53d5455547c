"""What the page has before it: the policy, the map, where the user is, and what has come of it.

One user, one device: every window of her browser shows the same. It holds the real location, as
:class:`Whereabouts` and as a leaf that shows itself to nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geocorgi.device.app.origin import Door, Origin
from geocorgi.device.app.work import Checked, Chosen
from geocorgi.device.attributes.own_places import OwnPlaces, read_own_places
from geocorgi.device.obfuscate import ANYBODY, Obfuscated
from geocorgi.device.policy import Policy
from geocorgi.device.policy_file import parse_policy, read_policy
from geocorgi.device.policy_text import policy_toml
from geocorgi.device.whereabouts import RealLeaf, Whereabouts
from geocorgi.files import write_atomically
from geocorgi.wire.public_map import PublicMap

SIMPLEST = Policy(2, 0)


@dataclass(slots=True, repr=False)
class Session:
    """The present state; it changes by what the user does and by nothing else."""

    door: Door
    data: Path
    policy_file: Path
    origin: Origin | None = None
    public_map: PublicMap | None = None
    text: str = ""
    policy: Policy = SIMPLEST
    whereabouts: Whereabouts | None = None
    real_leaf: RealLeaf | None = None
    own: OwnPlaces | None = None
    chosen: Chosen | None = None
    checked: Checked | None = None
    reported: Obfuscated | None = None
    recipient: str = ANYBODY

    def begin(self) -> None:
        """Read what this device has: the policy and the user's own places."""
        self.own = read_own_places(self.data)
        if self.policy_file.exists():
            self.policy = read_policy(self.policy_file)
            self.text = self.policy_file.read_text(encoding="utf-8")
        else:
            self.text = policy_toml(self.policy)

    def use_map(self, public_map: PublicMap) -> None:
        """Look at a map; what was said about another one is forgotten."""
        self.public_map = public_map
        self.whereabouts = self.real_leaf = None
        self.forget()

    def use_text(self, text: str) -> None:
        """Use a policy from now on, and write it down; or refuse it and change nothing."""
        policy = parse_policy(text, self.policy_file.parent, self.public_map)
        write_atomically(self.policy_file, text.encode("utf-8"), private=True)
        self.text, self.policy = text, policy
        self.forget()

    def use_policy(self, policy: Policy) -> None:
        """Use a policy that was put together here."""
        self.use_text(policy_toml(policy))

    def go_to(self, whereabouts: Whereabouts) -> None:
        """Say where the user is, or refuse a place that the map does not cover."""
        if self.public_map is None:
            return
        leaf = whereabouts.leaf_of(self.public_map)
        self.whereabouts, self.real_leaf = whereabouts, leaf
        self.checked = self.reported = None

    def forget(self) -> None:
        """Forget what a former policy or map came to."""
        self.chosen = self.checked = self.reported = None
