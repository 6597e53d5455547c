"""What the page of the benchmarks says of others: HiGHS on the paper's program, and qif."""

from __future__ import annotations

from typing import Any

from markdown import seconds, table

Json = dict[str, Any]


def peers_text(sections: Json) -> str:
    return "\n\n".join(
        ["## Beside others", PEERS.strip(), _highs_text(sections), _qif_text(sections)],
    )


PEERS = """
Same instance, same run, one after the other. Seconds are from a built problem to a matrix, without
any audit. Then every matrix is audited exactly, over all pairs and the true distances; negative
entries of a peer's matrix are set to zero and its rows divided by their sums first, in its favour.
"""


def _highs_text(sections: Json) -> str:
    found = sections.get("highs", {"result": {"comparisons": []}})["result"]["comparisons"]
    rows = [
        [
            f"{x['peer']['cells']}",
            f"{x['peer']['epsilon_per_km']:g}",
            {"paper": "the same program", "exact": "all pairs, true distances"}[method],
            seconds(x["peer"]["solving_seconds"]),
            seconds(ours["solving_seconds"]),
            f"**{x['ratios'][method]:,.0f}×**",
            f"{x['peer']['loss_km']:.9f}",
            f"{ours['loss_km']:.9f}",
            f"{x['peer']['peak_mb']:,.0f} / {ours['peak_mb']:,.0f}",
            _promise(x["peer"]),
            _promise(ours),
        ]
        for x in found
        for method, ours in x["ours"].items()
    ]
    if not rows:
        return "### HiGHS on the paper's own program\n\nNot run."
    large = [x for x in found if x["peer"]["cells"] == 343]
    least = min(ratio for x in large for ratio in x["ratios"].values()) if large else 0
    goal = found[0]["goal"]
    verdict = "reached" if least >= goal else "not reached" if large else "not measured"
    heads = ["K", "eps /km", "we solve", "HiGHS s", "ours s", "ratio", "HiGHS loss km"]
    return (
        "### HiGHS on the paper's own program\n\nThe program as the paper prints it (Eq. 8: twelve "
        "neighbours, the smallest spacing for the edge length), by HiGHS, against our engine on "
        "the very same program and on the harder one that it approximates. Uniform prior. Goal: "
        f"{goal:.0f}× at K = 343, eps 15: {verdict} (the lesser ratio there: {least:,.0f}×).\n\n"
        + table([*heads, "our loss km", "peak MB", "HiGHS's true eps", "our true eps"], rows)
    )


def _qif_text(sections: Json) -> str:
    found = sections.get("qif", {"result": {"comparisons": []}})["result"]["comparisons"]
    head = "### qif over all pairs\n\n"
    if not found:
        return head + "Not run: qif could not be imported (`pip install qif`)."
    done = [x for x in found if x["ratios"]]
    near = [x for x in done if x["ratios"]["exact"] >= x["goal"]]
    dusty = sum(not x["peer"]["audit"]["holds"] for x in done)
    ours = sum(x["ours"]["exact"]["audit"]["holds"] for x in found)
    heads = "K,prior,eps /km,qif s,ours s,ratio,qif loss km,our loss km,our gap"
    return (
        head
        + "`qif.mechanism.d_privacy.min_loss_given_d`, distances and costs handed over as tables, "
        "with its own choice of solver and, where that one fails, others that it ships (only the "
        "seconds of the one that succeeds are counted). K = 64: the first 64 leaves of the tree of "
        f"343. It finds a matrix in {len(done)} of {len(found)} rows. Goal: "
        f"{found[0]['goal']:.0f}×: reached in {len(near)} of these {len(done)}. The exact audit "
        f"holds for {ours} of {len(found)} of our matrices and fails for {dusty} of {len(done)} of "
        "qif's; a loss below ours is then that of a matrix that is not private at the epsilon "
        "asked for.\n\n"
        + table(
            [*heads.split(","), "qif's true eps", "our true eps"], [_beside_qif(x) for x in found]
        )
        + "".join(f"\n\nLeft out: {x}." for x in sections["qif"]["result"]["skipped"])
    )


def _beside_qif(x: Json) -> list[str]:
    peer, ours = x["peer"], x["ours"]["exact"]
    failed = "failure" in peer
    return [
        f"{peer['cells']}",
        peer["prior"],
        f"{peer['epsilon_per_km']:g}",
        "fails" if failed else seconds(peer["solving_seconds"]),
        seconds(ours["solving_seconds"]),
        "–" if failed else f"**{x['ratios']['exact']:,.0f}×**",
        peer["failure"] if failed else f"{peer['loss_km']:.9f}",
        f"{ours['loss_km']:.9f}",
        f"{ours['gap']:.0e}",
        "–" if failed else _promise(peer),
        _promise(ours),
    ]


def _promise(row: Json) -> str:
    audit = row["audit"]
    smallest = audit["smallest_epsilon_per_km"]
    if smallest is None:
        return f"infinite ({audit['infinite_ratios']:,} ratios of something to nothing)"
    excess = smallest - row["epsilon_per_km"]
    said = f"eps {'+' if excess > 0 else '−'} {abs(excess):.1e}" if excess else "eps"
    return said if audit["holds"] else f"{said} ({audit['violations']:,} violations)"
