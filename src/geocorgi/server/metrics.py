"""What is counted: answers by address pattern and status, and builds. Nothing about who asks."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

BUILD_SECONDS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The service's own registry: nothing of the process or the machine is in it."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "geocorgi_answers", "Answers.", ("route", "status"), registry=self._registry
        )
        self._counts: dict[tuple[str, int], Counter] = {}
        self._waiting = Gauge(
            "geocorgi_builds_waiting", "Forests to be built.", registry=self._registry
        )
        self._failed = Counter(
            "geocorgi_builds_failed", "Forests that could not be built.", registry=self._registry
        )
        self._seconds = Histogram(
            "geocorgi_build_seconds", "Seconds a forest took.", buckets=BUILD_SECONDS,
            registry=self._registry,
        )  # fmt: skip

    def answered(self, route: str, status: int) -> None:
        """Count an answer."""
        count = self._counts.get((route, status))
        if count is None:
            count = self._counts[route, status] = self._answers.labels(route, str(status))
        count.inc()

    def waiting(self, forests: int) -> None:
        """Say how many forests wait, the one that is built included."""
        self._waiting.set(forests)

    def built(self, seconds: float) -> None:
        """Count a forest that was built."""
        self._seconds.observe(seconds)

    def failed(self) -> None:
        """Count a forest that could not be built."""
        self._failed.inc()

    def text(self) -> bytes:
        """Return everything in the format of Prometheus."""
        return generate_latest(self._registry)
