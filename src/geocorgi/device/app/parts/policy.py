"""The policy: levels, rules, protection and the rest in a form; the same as text; in and out."""

from __future__ import annotations

from nicegui import ui

from geocorgi.device.app.desk import Desk
from geocorgi.device.app.parts.levels import draw_levels
from geocorgi.device.app.parts.manner import draw_manner
from geocorgi.device.app.parts.preferences import draw_preferences
from geocorgi.device.app.parts.protection import draw_protection
from geocorgi.device.app.parts.text import draw_text
from geocorgi.device.app.words import heading, sentences
from geocorgi.device.policy_words import warnings_of, words_of


def draw_policy(desk: Desk) -> None:
    """Draw all that makes a policy."""
    for part in (draw_levels, draw_preferences, draw_protection, draw_manner):
        part(desk)
    _draw_words(desk)
    draw_text(desk)


def _draw_words(desk: Desk) -> None:
    @ui.refreshable
    def words() -> None:
        heading("In plain words")
        policy = desk.session.policy
        sentences((*words_of(policy), *(f"Note: {one}" for one in warnings_of(policy))))

    words()
    desk.with_policy(words.refresh)
