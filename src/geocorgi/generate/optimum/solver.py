"""The only door to HiGHS.

:class:`TransportSolver` is for pricing: one transport's linear program, kept warm while pairs are
added. :func:`solve_program` is for a master with caps. :func:`solve_whole` is for comparison: the
obfuscation problem as one program, as printed.

Variables are *arrivals* ``f = y * rate`` in units of the largest demand. Nothing that HiGHS says is
believed: ``Transport`` cuts the shipments to capacity and counts for itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import highspy
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from geocorgi.errors import SolverFailed
from geocorgi.generate.optimum.cone import Floats, Integers
from geocorgi.generate.optimum.transport import Transport

LARGEST_FOR_SIMPLEX = 60
# HiGHS drops coefficients below 1e-12 at the least, so exp(rate / 2) may not pass 1e12.
LARGEST_RATE = 2 * math.log(1e12)
_STATUS = highspy.HighsBasisStatus
_FINE = {
    highspy.HighsModelStatus.kOptimal,
    # HiGHS says so when it is unsure about the last digits; the caller counts anyway.
    highspy.HighsModelStatus.kUnknown,
}
_OPTIONS: tuple[tuple[str, bool | int | float | str], ...] = (
    ("output_flag", False),
    ("threads", 1),
    ("presolve", "off"),
    ("simplex_strategy", 4),  # primal: the basis stays feasible when gains change and pairs come
    ("primal_feasibility_tolerance", 1e-9),
    ("dual_feasibility_tolerance", 1e-9),
)


class TransportSolver:
    """One HiGHS instance, for one transport at a time."""

    def __init__(self) -> None:
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self._demands = 0
        for option, value in _OPTIONS:
            self._highs.setOptionValue(option, value)

    def load(self, transport: Transport, chosen: Integers, urgency: Floats) -> None:
        """Load a transport and solve it once with ``urgency`` for its gains.

        The ``chosen`` pairs form a dual feasible basis for these gains: few pivots are left.
        Afterwards all gains are one, and the basis stays primal feasible for them.
        """
        pairs = len(transport.sources)
        self._demands = len(transport.demand)
        self._highs.passModel(_linear_program(transport, urgency))
        self._highs.setBasis(_basis(transport, chosen))
        self._highs.run()
        self._highs.changeColsCost(pairs, np.arange(pairs, dtype=np.int32), np.full(pairs, -1.0))

    def extend(self, transport: Transport, sources: Integers, sinks: Integers) -> None:
        """Add pairs to the loaded transport."""
        count = len(sources)
        starts, rows, values = _entries(transport, sources, sinks)
        self._highs.addCols(
            count,
            np.full(count, -1.0),
            np.zeros(count),
            np.full(count, highspy.kHighsInf),
            2 * count,
            starts[:-1],
            rows,
            values,
        )

    def solve(self, transport: Transport) -> tuple[Floats, Floats]:
        """Return the arrival of every pair in play, and the height of every demand."""
        self._highs.run()
        status = self._highs.getModelStatus()
        if status not in _FINE:
            raise SolverFailed(f"HiGHS: {self._highs.modelStatusToString(status)}")
        solution = self._highs.getSolution()
        heights = 1.0 + np.array(solution.row_dual[: self._demands])
        return np.array(solution.col_value) * transport.unit, np.clip(heights, 0.0, 1.0)


def _entries(
    transport: Transport, sources: Integers, sinks: Integers
) -> tuple[np.ndarray, np.ndarray, Floats]:
    """Return the pairs' columns: one entry in the demand's row, one in the capacity's."""
    rows = np.empty(2 * len(sources), dtype=np.int32)
    values = np.empty(2 * len(sources))
    rows[0::2], values[0::2] = sinks, 1.0
    rows[1::2] = len(transport.demand) + sources
    values[1::2] = transport.best_rate[sources] / transport.rate[sources, sinks]
    return np.arange(0, 2 * len(sources) + 1, 2, dtype=np.int32), rows, values


def _linear_program(transport: Transport, urgency: Floats) -> highspy.HighsLp:
    pairs = len(transport.sources)
    limits = np.concatenate([transport.demand, transport.capacity * transport.best_rate])
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = pairs, len(limits)
    lp.col_cost_ = -urgency[transport.sinks]
    lp.col_lower_ = np.zeros(pairs)
    lp.col_upper_ = np.full(pairs, highspy.kHighsInf)
    lp.row_lower_ = np.full(len(limits), -highspy.kHighsInf)
    lp.row_upper_ = limits / transport.unit
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    starts, rows, values = _entries(transport, transport.sources, transport.sinks)
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, rows, values
    return lp


def _basis(transport: Transport, chosen: Sequence[int] | Integers) -> highspy.HighsBasis:
    """Return the basis in which every capacity is spent on its chosen pair."""
    columns = [_STATUS.kLower] * len(transport.sources)
    rows = [_STATUS.kBasic] * (len(transport.demand) + len(transport.capacity))
    spent = transport.sources + len(transport.demand)
    for pair in chosen:
        columns[pair] = _STATUS.kBasic
        rows[spent[pair]] = _STATUS.kUpper
    basis = highspy.HighsBasis()
    basis.col_status, basis.row_status, basis.valid = columns, rows, True
    return basis


def solve_program(
    costs: Floats, table: csr_array, lower: Floats, upper: Floats
) -> tuple[Floats, Floats]:
    """Return an ``x >= 0`` that costs least with ``lower <= table x <= upper``, and the duals."""
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = table.shape
    lp.col_cost_, lp.row_lower_, lp.row_upper_ = costs, lower, upper
    lp.col_lower_, lp.col_upper_ = np.zeros(len(costs)), np.full(len(costs), highspy.kHighsInf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = table.indptr, table.indices
    lp.a_matrix_.value_ = table.data
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.silent()
    highs.setOptionValue("threads", 1)
    highs.passModel(lp)
    highs.run()
    status = highs.getModelStatus()
    if status not in _FINE:
        raise SolverFailed(f"HiGHS: {highs.modelStatusToString(status)}")
    solution = highs.getSolution()
    return np.array(solution.col_value), np.array(solution.row_dual)


def solve_whole(rates: Floats, pairs: npt.NDArray[np.bool_], costs: Floats) -> Floats:
    """Return the cheapest row-stochastic Z with ``Z_il <= exp(rates_ij) Z_jl`` for the pairs.

    One variable an entry, one constraint a pair and column, solved by whatever HiGHS thinks best
    (interior point and crossover where it is large). What comes back has the solver's dust.
    """
    size, width = costs.shape
    steepest = float(rates[pairs].max(initial=0.0))
    if steepest > LARGEST_RATE:
        raise SolverFailed(
            f"HiGHS would need coefficients from 1 to e^{steepest:.1f}, and keeps only those "
            f"up to e^{LARGEST_RATE:.1f}; use a smaller epsilon, or the method 'exact'"
        )
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.silent()
    highs.setOptionValue("small_matrix_value", 1e-12)
    for tolerance in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        highs.setOptionValue(tolerance, 1e-10)
    if size > LARGEST_FOR_SIMPLEX:
        highs.setOptionValue("solver", "ipm")
    highs.passModel(_whole_program(rates, pairs, costs / (costs.mean() or 1.0)))
    highs.run()
    status = highs.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverFailed(f"HiGHS: {highs.modelStatusToString(status)}")
    entries = np.array(highs.getSolution().col_value).reshape(size, width)
    positive: Floats = np.maximum(entries, 0.0)
    return positive


def _whole_program(rates: Floats, pairs: npt.NDArray[np.bool_], costs: Floats) -> highspy.HighsLp:
    size, width = costs.shape
    one, other = (np.repeat(at, width) for at in np.nonzero(pairs))
    column = np.tile(np.arange(width), len(one) // width)
    rows = len(one)
    # Both sides times exp(-rate / 2): coefficients reach half as far.
    half = np.exp(rates[one, other] / 2)
    table = csr_array(
        (
            np.concatenate([1 / half, -half, np.ones(size * width)]),
            (
                np.concatenate(
                    [np.tile(np.arange(rows), 2), rows + np.repeat(np.arange(size), width)]
                ),
                np.concatenate(
                    [one * width + column, other * width + column, np.arange(size * width)]
                ),
            ),
        ),
        shape=(rows + size, size * width),
    )
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = size * width, rows + size
    lp.col_cost_ = costs.ravel()
    lp.col_lower_, lp.col_upper_ = np.zeros(size * width), np.ones(size * width)
    lp.row_lower_ = np.concatenate([np.full(rows, -highspy.kHighsInf), np.ones(size)])
    lp.row_upper_ = np.concatenate([np.zeros(rows), np.ones(size)])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = table.indptr, table.indices
    lp.a_matrix_.value_ = table.data
    return lp
