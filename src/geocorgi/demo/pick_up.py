"""A third party: it is sent a report and answers with its nearest pick-up (Paper: §2.2, step 7).

It could be anybody's program in any language. It has pick-ups of its own, knows nothing of policies
and forests, and takes the report's coordinates for where the customer is.
"""

from __future__ import annotations

import json
import sys
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import urlsplit

from geocorgi.synthetic.files import SAN_FRANCISCO
from geocorgi.tree import cells
from geocorgi.tree.distances import haversine_km
from geocorgi.tree.location_tree import LocationTree

LARGEST_REPORT = 2_000
SECONDS = 10.0
Place = tuple[float, float]


def pick_ups() -> list[Place]:
    """Return where the provider picks people up: 49 places all over town."""
    tree = LocationTree(SAN_FRANCISCO.root, 3)
    return [cells.centre(cell) for cell in tree.nodes(1)]


def nearest(place: Place) -> Place:
    """Return the pick-up nearest to a place."""
    return min(pick_ups(), key=lambda one: float(haversine_km(*place, *one)))


def ask(url: str, report: dict[str, Any]) -> Place:
    """Send the provider a report, and return the pick-up that it answers with."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)  # by no proxy
    try:
        connection.request("POST", "/", json.dumps(report).encode())
        found = json.load(connection.getresponse())
    finally:
        connection.close()
    return found["latitude"], found["longitude"]


class PickUps(BaseHTTPRequestHandler):
    """Answers a report with the nearest pick-up, and notes nothing."""

    timeout = SECONDS

    def do_POST(self) -> None:
        """Answer one report."""
        try:
            size = min(int(self.headers["Content-Length"]), LARGEST_REPORT)
            report = json.loads(self.rfile.read(size))
            latitude, longitude = nearest((float(report["latitude"]), float(report["longitude"])))
        except (KeyError, TypeError, ValueError):
            self.send_error(400, "that is no report")
            return
        content = json.dumps({"latitude": latitude, "longitude": longitude}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Note nothing."""


def main() -> None:
    """Serve this machine until stopped."""
    with HTTPServer(("127.0.0.1", 0), PickUps) as server:
        sys.stderr.write(f"ready: http://127.0.0.1:{server.server_port}/\n")
        sys.stderr.flush()
        server.serve_forever()


if __name__ == "__main__":
    main()
