"""One window of the user's browser: it runs work, says how that went, and draws what changed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from nicegui import ui

from geocorgi.device.app.backdrop import Backdrop
from geocorgi.device.app.job import Job, Stopped, done_aside
from geocorgi.device.app.scene import View
from geocorgi.device.app.session import Session
from geocorgi.device.app.work import choose, fetch_map
from geocorgi.device.gpsd import USUAL_ADDRESS
from geocorgi.errors import GeocorgiError
from geocorgi.wire.map_codec import map_id

Result = TypeVar("Result")
log = logging.getLogger("geocorgi.app")
STOPPED = "Stopped. Nothing was drawn, charged or sent."


@dataclass(frozen=True, slots=True)
class Extras:
    """What the command that starts the page may add to it."""

    backdrop: Backdrop | None = None
    gpsd: str = USUAL_ADDRESS


@dataclass(slots=True, repr=False)
class Desk:
    """What the parts of the page have in common."""

    session: Session
    extras: Extras
    view: View = field(default_factory=View)
    tool: str = "here"
    job: Job | None = None
    expects_map: bool = False
    drawn_anew: list[Callable[[], object]] = field(default_factory=list)
    news: News | None = None

    def say(self, sentence: str, *, good: bool = True) -> None:
        """Show a sentence, and have it read aloud."""
        if self.news is not None:
            self.news.show(sentence, good=good)

    def changed(self) -> None:
        """Draw anew whatever shows the session."""
        for draw in self.drawn_anew:
            draw()

    def stop(self) -> None:
        """Stop the work under way."""
        if self.job is not None and not self.job.stop():
            self.say("Too late to stop: the report is drawn and charged.")

    def attempt(self, act: Callable[[], Result]) -> Result | None:
        """Do what may be refused; a refusal is said, and None returned."""
        try:
            return act()
        except GeocorgiError as refusal:
            self.say(_sentence(refusal), good=False)
        except Exception as failure:  # noqa: BLE001 - the page outlives whatever fails
            self._unexpected(failure)
        return None

    async def run(self, work: Callable[[Job], Result]) -> Result | None:
        """Run work beside the page; None if it was refused or stopped, which is said."""
        if self.job is not None:
            self.say("Something is under way already: stop it first.", good=False)
            return None
        self.job = job = Job()
        try:
            return await done_aside(job, work, self._look)
        except Stopped:
            self.say(STOPPED)
        except GeocorgiError as refusal:
            self.say(_sentence(refusal), good=False)
        except Exception as failure:  # noqa: BLE001 - the page outlives whatever fails
            self._unexpected(failure)
        finally:
            self.job = None
            self._look()
        return None

    async def fetch(self) -> bool:
        """Fetch the map from where it is to come from; return whether it came."""
        session = self.session
        if session.origin is None:
            return False
        public_map = await self.run(fetch_map(session.door, session.origin))
        self.expects_map = False
        if public_map is None:
            self.changed()
            return False
        session.use_map(public_map)
        self.say(f"The map {map_id(public_map)[:12]}… is here. Now say where you are.")
        self.changed()
        await self.choose()
        return True

    async def choose(self) -> None:
        """Find out what the policy comes to on the map."""
        session = self.session
        if session.origin is None or session.public_map is None:
            return
        work = choose(session.door, session.origin, session.policy, session.public_map)
        session.chosen = await self.run(work)
        self.changed()

    async def use(self, act: Callable[[], object], said: str) -> bool:
        """Change the policy or the user's places, and see what that comes to; or say why not."""

        def acted() -> bool:
            act()
            return True

        done = bool(self.attempt(acted))
        self.changed()  # before anything is said: who goes on at once meets the new forms
        if done:
            self.say(said)
            await self.choose()
        return done

    def with_policy(self, draw: Callable[[], object]) -> None:
        """Draw anew when the policy or the map is another one; what is being typed stays."""
        seen = (self.session.text, self.session.public_map)

        def again() -> None:
            nonlocal seen
            now = (self.session.text, self.session.public_map)
            if now != seen:
                seen = now
                draw()

        self.drawn_anew.append(again)

    def _look(self) -> None:
        if self.news is not None:
            self.news.progress(self.job)

    def _unexpected(self, failure: Exception) -> None:
        # Neither its words nor its values: they may say where the user is.
        where = failure.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        line = "" if where is None else f" ({where.tb_frame.f_code.co_name}:{where.tb_lineno})"
        log.error("unexpected: %s%s", type(failure).__name__, line)
        self.say(
            f"Something failed inside ({type(failure).__name__}), and nothing more is known of it. "
            "The history says what was sent. Trying again is safe.",
            good=False,
        )


class News:
    """What happens: the work under way with a way to stop it, and the last result or refusal."""

    def __init__(self, desk: Desk) -> None:
        self.is_bad = False
        with ui.element("section").props('aria-label="What happens"').style("width: 100%"):
            with ui.element("div").classes("news work") as self._work:
                self._doing = ui.label().classes("said").props('aria-live="polite"')
                self._bar = ui.linear_progress(0, show_value=False).style("max-width: 12rem")
                self._bar.props('instant-feedback aria-label="Progress"')
                ui.button("Stop", on_click=desk.stop).props("outline dense no-caps")
            with ui.element("div").classes("news") as self._box:
                self._said = ui.label().classes("said").props('role="status" aria-live="polite"')
        self._work.set_visibility(False)
        self._box.set_visibility(False)

    def show(self, sentence: str, *, good: bool) -> None:
        """Show a sentence."""
        self.is_bad = not good
        self._box.set_visibility(True)
        self._box.classes(add="good" if good else "bad", remove="bad" if good else "good")
        self._said.text = sentence

    def progress(self, job: Job | None) -> None:
        """Show how far the work is; nothing where there is none."""
        self._work.set_visibility(job is not None)
        if job is None:
            return
        count = f" {job.done} of {job.of}" if job.of else ""
        self._doing.text = f"{job.said[:1].upper()}{job.said[1:]}{count} …"
        if job.of:
            self._bar.props(remove="indeterminate")
            self._bar.value = job.done / job.of
        else:
            self._bar.props("indeterminate")


def _sentence(refusal: GeocorgiError) -> str:
    text = str(refusal)
    return text[:1].upper() + text[1:]
