"""All experiments, in the order in which they run: the paper's, then what is beyond it."""

from __future__ import annotations

from geocorgi.errors import InvalidInput
from geocorgi.lab.beyond.adversary import ADVERSARY
from geocorgi.lab.beyond.peers import PEERS
from geocorgi.lab.beyond.repetition import REPETITION
from geocorgi.lab.experiment import Experiment
from geocorgi.lab.paper.computation_time import COMPUTATION_TIME
from geocorgi.lab.paper.convergence import CONVERGENCE
from geocorgi.lab.paper.foundations import FOUNDATIONS
from geocorgi.lab.paper.policies import POLICIES
from geocorgi.lab.paper.precision_reduction import PRECISION_REDUCTION
from geocorgi.lab.paper.privacy_level import PRIVACY_LEVEL
from geocorgi.lab.paper.privacy_parameters import PRIVACY_PARAMETERS
from geocorgi.lab.paper.pruning_locations import PRUNING_LOCATIONS

EXPERIMENTS: tuple[Experiment, ...] = (
    FOUNDATIONS,
    CONVERGENCE,
    COMPUTATION_TIME,
    PRIVACY_PARAMETERS,
    PRUNING_LOCATIONS,
    PRIVACY_LEVEL,
    PRECISION_REDUCTION,
    POLICIES,
    ADVERSARY,
    REPETITION,
    PEERS,
)
ALL = "all"


def experiment_of(name: str) -> Experiment:
    """Return the experiment of a name."""
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    known = ", ".join(experiment.name for experiment in EXPERIMENTS)
    raise InvalidInput(f"there is no experiment {name!r}; there are {known}, and {ALL}")


def experiments_of(name: str) -> tuple[Experiment, ...]:
    """Return the experiment of a name, or all of them for ``all``."""
    return EXPERIMENTS if name == ALL else (experiment_of(name),)
