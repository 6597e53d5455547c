"""The service under load, beside uvicorn alone, in one run; and what a catalogue takes.

Usage::

    make bench-server                                     # all of it, and its page
    python benchmarks/server.py                           # what is quick, printed
    python benchmarks/server.py --catalogue --page FILE   # all of it, written as a page

Three measurements, each bounded in time: a cached forest of K = 49 (seven subtrees) against what
uvicorn gives for a bare response of the same bytes, turn by turn with wrk, 64 connections; half a
minute of that with the server's errors and memory; and how long the map takes to come while a
forest is built, in a process of its own, on the same machine. With --catalogue, also every forest
of the bundled map: its size, and how long it takes to build.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from geocorgi.server.bundled_map import bundled_map
from geocorgi.server.store import open_store
from geocorgi.wire.addresses import MAP_INDEX, forest_address, pin_address
from geocorgi.wire.catalogue import CatalogueEntry
from geocorgi.wire.forest_pin import ForestPin, decode_pin
from geocorgi.wire.forest_request import ForestRequest, request_for, request_id
from geocorgi.wire.map_codec import map_id
from machine import machine

Json = dict[str, Any]
CONNECTIONS = 64
ASKED_A_SECOND = 100
QUICK = CatalogueEntry(2, None, 0, "keep", 15.0)
LONG = CatalogueEntry(2, None, 2, "keep", 5.0)
BARE = """
import sys
import uvicorn
body = open(sys.argv[1], "rb").read()
headers = [(b"content-type", b"application/octet-stream"), (b"content-length", b"%d" % len(body))]
async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
uvicorn.run(app, port=int(sys.argv[2]), access_log=False, log_level="warning", lifespan="off")
"""


def measured(rounds: int, seconds: int) -> Json:
    """Return everything that is measured under load."""
    if shutil.which("wrk") is None:
        raise SystemExit("the load comes from wrk, which is missing: apt-get install wrk")
    with tempfile.TemporaryDirectory(prefix="geocorgi-bench-") as name:
        folder = Path(name)
        public_map = bundled_map()
        open_store(str(folder / "store")).publish_maps([public_map])
        quick = request_for(map_id(public_map), QUICK)
        with serving(folder) as (process, port):
            pin = built(port, quick)
            address = forest_address(pin.map_id, pin.request_id, pin.sha256)
            with bare(folder / "store" / address, folder) as bare_port:
                throughput = compared(port, bare_port, address, rounds)
            steady = sustained(process.pid, port, address, seconds)
            building = while_building(port, request_for(map_id(public_map), LONG))
    return {"bytes": pin.bytes, "throughput": throughput, "steady": steady, "building": building}


# ---- processes


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    words = ["serve", "--store", str(folder / "store"), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "geocorgi.server.cli", *words], stderr=subprocess.PIPE, text=True
    )
    try:
        said = process.stderr.readline()
        yield process, int(re.search(r"127\.0\.0\.1:(\d+)/", said).group(1))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@contextmanager
def bare(body: Path, folder: Path) -> Iterator[int]:
    import socket  # noqa: PLC0415 - for a free port, once

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    (folder / "bare.py").write_text(BARE, encoding="utf-8")
    process = subprocess.Popen([sys.executable, str(folder / "bare.py"), str(body), str(port)])
    try:
        while process.poll() is None and not is_there(port):
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(60)


def is_there(port: int) -> bool:
    try:
        asked(port, "")
    except OSError:
        return False
    return True


def asked(port: int, address: str) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", f"/{address}")
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def built(port: int, request: ForestRequest) -> ForestPin:
    address = pin_address(request.map_id, request_id(request))
    while True:
        status, content = asked(port, address)
        if status == 200:
            return decode_pin(content)
        time.sleep(0.5)


# ---- what is measured


def compared(port: int, bare_port: int, address: str, rounds: int) -> Json:
    """Measure turn by turn, so that what else the machine does touches both alike."""
    ours, alone = [], []
    for _ in range(rounds):
        alone.append(load(bare_port, address, 3)["requests_per_second"])
        ours.append(load(port, address, 3)["requests_per_second"])
    ratios = [mine / theirs for mine, theirs in zip(ours, alone, strict=True)]
    return {
        "requests_per_second": statistics.median(ours),
        "bare_requests_per_second": statistics.median(alone),
        "ratio": statistics.median(ratios),
        "ratios": ratios,
    }


def load(port: int, address: str, seconds: int) -> Json:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "--timeout", "10s"]
    said = subprocess.run(
        [*command, f"http://127.0.0.1:{port}/{address}"], capture_output=True, text=True, check=True
    ).stdout
    socket_errors = re.search(r"Socket errors: (.*)", said)
    others = re.search(r"Non-2xx or 3xx responses: (\d+)", said)
    return {
        "requests": int(re.search(r"(\d+) requests in", said).group(1)),
        "requests_per_second": float(re.search(r"Requests/sec: +([\d.]+)", said).group(1)),
        "errors": sum(map(int, re.findall(r"\d+", socket_errors.group(1)))) if socket_errors else 0,
        "not_good": int(others.group(1)) if others else 0,
    }


def sustained(pid: int, port: int, address: str, seconds: int) -> Json:
    """Measure errors and memory; the first seconds are not counted, while pools fill."""
    load(port, address, 3)
    before = resident_mb(pid)
    found = load(port, address, seconds)
    return found | {"seconds": seconds, "before_mb": before, "after_mb": resident_mb(pid)}


def resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) / 1000


def while_building(port: int, request: ForestRequest) -> Json:
    idle = waits(port, 5.0)
    address = pin_address(request.map_id, request_id(request))
    asked(port, address)
    busy = waits(port, 15.0)
    still = asked(port, address)[0] == 202
    return {"idle": idle, "building": busy, "was_building_all_the_time": still}


def waits(port: int, seconds: float) -> Json:
    """Ask for the map at a fixed rate; return how long the answers took, in milliseconds."""
    connection, found, start = HTTPConnection("127.0.0.1", port, timeout=60), [], time.monotonic()
    turn = 0
    while (due := start + turn / ASKED_A_SECOND) < start + seconds:
        turn += 1
        time.sleep(max(0.0, due - time.monotonic()))
        began = time.perf_counter()
        connection.request("GET", f"/{MAP_INDEX}")
        connection.getresponse().read()
        found.append(1000 * (time.perf_counter() - began))
    connection.close()
    cuts = statistics.quantiles(found, n=100)
    return {"asked": len(found), "p50_ms": cuts[49], "p99_ms": cuts[98], "longest_ms": max(found)}


def catalogue(most_entries: int | None) -> Json:
    """Fill a store with the bundled map's catalogue by the operator's own command."""
    with tempfile.TemporaryDirectory(prefix="geocorgi-bench-") as name:
        words = ["precompute", "--store", f"{name}/store", "--json"]
        if most_entries is not None:
            words += ["--map", some_entries(Path(name), most_entries)]
        command = [sys.executable, "-m", "geocorgi.server.cli", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        (found,) = json.loads(done.stdout)["maps"]
    return found


def some_entries(folder: Path, most: int) -> str:
    from dataclasses import replace  # noqa: PLC0415 - for tests alone

    from geocorgi.wire.map_codec import encode_map  # noqa: PLC0415

    whole = bundled_map()
    path = folder / "map.json"
    path.write_bytes(encode_map(replace(whole, catalogue=whole.catalogue[:most])))
    return str(path)


# ---- the page


def page(run: Json) -> str:
    parts = [HEAD, machine_text(run["machine"]), load_text(run["load"])]
    parts += [
        "## A whole catalogue",
        catalogue_text(run["catalogue"]) if "catalogue" in run else NO,
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


NO = "Not measured in this run; `make bench-server` measures it."
HEAD = """
# Benchmarks of the service

*Made by `make bench-server` (`benchmarks/server.py`); do not edit: every number below was measured
by that program, on the machine named here. Compare ratios between machines, not seconds.*
"""


def machine_text(found: Json) -> str:
    return (
        f"{found['processor']}, {found['cores']} cores, {found['memory_gb']:.0f} GB, "
        f"{found['system']}, Python {found['python']}; the load was "
        f"{found['busy'][0]:.1f} before and {found['busy'][1]:.1f} after."
    )


def load_text(found: Json) -> str:
    through, steady, building = found["throughput"], found["steady"], found["building"]
    rows = [
        "## Under load",
        f"A cached forest of K = 49 (seven subtrees, {found['bytes']:,} bytes), "
        f"{CONNECTIONS} connections, wrk on the same machine; one process each, turn by turn:",
        "| | requests/s |\n|---|---|\n"
        f"| uvicorn alone, the same bytes | {through['bare_requests_per_second']:,.0f} |\n"
        f"| the service | {through['requests_per_second']:,.0f} |\n"
        f"| the service beside uvicorn alone, median of {len(through['ratios'])} turns "
        f"({min(through['ratios']):.0%} to {max(through['ratios']):.0%}) "
        f"| **{through['ratio']:.0%}** |",
        f"{steady['seconds']} seconds of it: {steady['requests']:,} answers, "
        f"{steady['errors']} errors of the connection, {steady['not_good']} answers other than "
        f"200; {steady['before_mb']:.1f} MB in memory before, {steady['after_mb']:.1f} MB after.",
        f"`/v1/map`, asked {ASKED_A_SECOND} times a second, while a forest is built beside it"
        + ("" if building["was_building_all_the_time"] else " (the build ended before)")
        + ":",
        "| | p50 | p99 | longest |\n|---|---|---|---|\n"
        + "\n".join(
            f"| {name} | {one['p50_ms']:.1f} ms | {one['p99_ms']:.1f} ms "
            f"| {one['longest_ms']:.1f} ms |"
            for name, one in (("idle", building["idle"]), ("building", building["building"]))
        ),
    ]
    return "\n\n".join(rows)


def catalogue_text(found: Json) -> str:
    head = (
        "| level | filter | δ | rows | ε per km | bytes | seconds |\n|---|---|---|---|---|---|---|"
    )
    rows = [
        f"| {one['privacy_level']} | {one['filter'] or '–'} | {one['delta']} | {one['rows']} "
        f"| {one['epsilon_per_km']:g} | {one['bytes']:,} | {one['seconds']:.1f} |"
        for one in found["forests"]
    ]
    failed = [f"- not built: {one['entry']}: {one['reason']}" for one in found["failed"]]
    return "\n\n".join(
        part
        for part in (
            "The bundled map (343 leaves of a made-up San Francisco), every forest that it offers, "
            f"by `geocorgi-server precompute`: {found['bytes'] / 1e6:.1f} MB in "
            f"{found['seconds'] / 60:.0f} minutes.",
            "\n".join([head, *rows]),
            "\n".join(failed),
        )
        if part
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of the comparison")
    parser.add_argument("--seconds", type=int, default=30, help="of steady load")
    parser.add_argument("--no-load", action="store_true", help="measure nothing under load")
    parser.add_argument("--catalogue", action="store_true", help="measure the catalogue, too")
    parser.add_argument("--entries", type=int, help="at most so many entries of the catalogue")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--run", type=Path, help="keep what was measured here, and begin with it")
    parser.add_argument("--page", type=Path, help="write the page here")
    return parser.parse_args()


def main() -> None:
    options, before = parsed(), os.getloadavg()[0]
    kept = options.run is not None and options.run.exists()
    run: Json = json.loads(options.run.read_text(encoding="utf-8")) if kept else {}
    if not options.no_load:
        run["load"] = measured(options.rounds, options.seconds)
    if options.catalogue:
        run["catalogue"] = catalogue(options.entries)
    run["machine"] = machine() | {"busy": [before, os.getloadavg()[0]]}
    if options.run is not None:
        options.run.parent.mkdir(parents=True, exist_ok=True)
        options.run.write_text(json.dumps(run, indent=1), encoding="utf-8")
    if options.json:
        print(json.dumps(run, indent=1))
    elif options.page is not None:
        options.page.write_text(page(run), encoding="utf-8")
    else:
        print(page(run))


if __name__ == "__main__":
    main()
