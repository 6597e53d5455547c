"""Every way in which geocorgi refuses, drawn as a tree.

::

    GeocorgiError
    ├── InvalidInput           the caller's: a value that cannot mean what was asked
    │   ├── InvalidCell            not an H3 cell, or not one that fits here
    │   ├── InvalidTree            no balanced location tree grows from this
    │   ├── InvalidRegion          a GeoJSON region that cannot be covered
    │   ├── InvalidPriors          weights that are no distribution
    │   ├── InvalidMatrix          numbers that are no obfuscation matrix
    │   ├── InvalidEpsilon         a privacy budget that is not a positive finite number
    │   ├── InvalidProblem         rates and costs that make no obfuscation problem
    │   ├── InvalidPruning         a set of cells whose removal leaves nothing to draw from
    │   ├── InvalidForest          matrices that are no privacy forest
    │   ├── InvalidPolicy          a user's policy that cannot mean what was asked; names the line
    │   └── InvalidMessage         what crosses the wall and is malformed, too large or not offered
    ├── NotPrivate             the matrix's: it does not keep the promise that it is to carry
    ├── ForestRefused          the server's: not the forest asked for, or it breaks its word
    ├── PolicyNotMet           the policy's: this map offers nothing that could meet it
    ├── NotLocated             the receiver's: no real location came
    ├── NotReported            the policy's: from here it lets nothing be reported
    ├── AttributeUnknown       the source's: a preference wants a value that is not known, or none
    ├── OutsideTree            a point or cell that no leaf of this tree covers
    ├── BudgetSpent            the budget's: at its ceiling everything is refused until it frees
    ├── GenerationFailed       the numerics': nothing is returned rather than something doubtful
    │   ├── SolverFailed           the solver gave up; its own word is in the message
    │   ├── LossBelowBound         a feasible loss lies under its proved lower bound
    │   ├── SubtreeFailed          a subtree of a forest has no matrix; the forest is not published
    │   └── WorkerLost             the process that built a forest ended without a word
    ├── ReleaseUnfinished      a worker's: a release stopped midway; the same command goes on
    ├── FetchFailed            the network's or the server's: what was asked for did not come
    │   ├── Unreachable            no whole answer in time; asking again later may help
    │   ├── NotReady               the server is still building it when patience ends
    │   ├── NotOffered             the server does not have it
    │   └── AnswerRefused          an answer that is not believed: too large, from elsewhere, not
    │                              what its digest says
    ├── BadFile                the file's: unreadable, of an unknown kind, or malformed
    │   └── BadCheckins            check-ins that break the declared layout
    ├── WallBreached           the program's: a server tried to import what runs on a device
    ├── CommandFailed          the demonstration's: a command that it shows did not do its part
    └── MissingExtra           the installation's: an optional part is not installed

No message ever carries a location: messages reach logs, and logs reach other people.
"""

from __future__ import annotations

from datetime import datetime


class GeocorgiError(Exception):
    """The root: catching it catches every refusal of this package and nothing else."""


class InvalidInput(GeocorgiError, ValueError):
    """A value that cannot mean what was asked."""


class InvalidCell(InvalidInput):
    """Not an H3 cell, or not one that fits here."""


class InvalidTree(InvalidInput):
    """No balanced location tree grows from this."""


class InvalidRegion(InvalidInput):
    """A GeoJSON region that cannot be covered."""


class InvalidPriors(InvalidInput):
    """Weights that are no distribution over these cells."""


class InvalidMatrix(InvalidInput):
    """Numbers that are no obfuscation matrix."""


class InvalidEpsilon(InvalidInput):
    """A privacy budget that is not a positive finite number."""


class InvalidProblem(InvalidInput):
    """Rates and costs that make no obfuscation problem."""


class InvalidPruning(InvalidInput):
    """A set of cells whose removal leaves nothing to draw from."""


class InvalidForest(InvalidInput):
    """Matrices that are no privacy forest."""


class InvalidPolicy(InvalidInput):
    """A user's policy that cannot mean what was asked; the message names the line."""


class InvalidMessage(InvalidInput):
    """What crosses the wall and is malformed, too large, or not offered."""


class GenerationFailed(GeocorgiError):
    """The numerics failed: nothing is returned rather than something doubtful."""


class SolverFailed(GenerationFailed):
    """The solver gave up; its own word is in the message."""


class LossBelowBound(GenerationFailed):
    """A feasible loss lies under its proved lower bound: one of the two is wrong."""


class SubtreeFailed(GenerationFailed):
    """A subtree of a forest has no matrix, so the forest is not published."""


class WorkerLost(GenerationFailed):
    """The process that built a forest ended without a word: killed, or out of memory."""


class NotPrivate(GeocorgiError):
    """A matrix does not keep the promise that it is to carry."""


class ForestRefused(GeocorgiError):
    """A forest is not what was asked for, or does not keep what it promises: nothing is drawn."""


class PolicyNotMet(GeocorgiError):
    """The map's catalogue offers nothing that could meet the policy."""


class NotLocated(GeocorgiError):
    """No real location came from where it was to come."""


class NotReported(GeocorgiError):
    """The policy lets nothing be reported from where the user is."""


class AttributeUnknown(GeocorgiError):
    """A value that a preference wants is not known, and the preference refuses without it."""


class OutsideTree(GeocorgiError, LookupError):
    """A point or cell that no leaf of this tree covers."""


class BudgetSpent(GeocorgiError):
    """At its ceiling everything is refused, old places and new ones alike, until it frees."""

    def __init__(self, sentence: str, frees_at: datetime | None) -> None:
        """Hold the sentence and the time when a next draw fits; None if it never will."""
        super().__init__(sentence)
        self.frees_at = frees_at


class ReleaseUnfinished(GeocorgiError):
    """A worker did not finish its part of a release; what is done is kept."""


class FetchFailed(GeocorgiError):
    """What was asked for over the network did not come."""


class Unreachable(FetchFailed):
    """There is no whole answer in time; asking again later may help."""


class NotReady(FetchFailed):
    """The server is still building it when patience ends."""


class NotOffered(FetchFailed):
    """The server does not have it."""


class AnswerRefused(FetchFailed):
    """An answer is not believed, whatever the reason why it came."""


class BadFile(GeocorgiError):
    """A file that is unreadable, of an unknown kind, or malformed."""


class BadCheckins(BadFile):
    """Check-ins that break the declared layout."""


class WallBreached(GeocorgiError, ImportError):
    """A server's process tried to import what runs on a device."""


class CommandFailed(GeocorgiError):
    """A command of the demonstration ended with an error of its own, which stands above."""


class MissingExtra(GeocorgiError, ImportError):
    """An optional part of the package is not installed."""
