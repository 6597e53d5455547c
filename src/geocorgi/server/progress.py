"""What a long solve shows: loss, bound, gap and time, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from geocorgi.terminal import messages

SECONDS_BEFORE_A_LINE = 2.0
SECONDS_BETWEEN_LINES = 10.0
Progress = Callable[[float, float, float, float], None]


@contextmanager
def shown_progress(*, as_json: bool) -> Iterator[Progress]:
    """Lend a callback; a terminal shows a moving line, anything else a line now and then."""
    next_line = SECONDS_BEFORE_A_LINE

    def sentence(loss: float, bound: float, gap: float, seconds: float) -> str:
        found, best = f"loss {loss * 1000:.4f} m", f"at best {bound * 1000:.4f} m"
        return f"{found}, {best}, gap {gap:.2g}, {seconds:.0f} s"

    if messages.is_terminal:
        with messages.status("solving… (Ctrl-C keeps the best so far)") as status:
            yield lambda *state: status.update(f"{sentence(*state)} (Ctrl-C keeps it)")
        return

    def line(loss: float, bound: float, gap: float, seconds: float) -> None:
        nonlocal next_line
        if not as_json and seconds >= next_line:
            next_line = seconds + SECONDS_BETWEEN_LINES
            messages.print(sentence(loss, bound, gap, seconds))

    yield line
