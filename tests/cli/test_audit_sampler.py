"""``geocorgi audit --sampler`` from a user's folder."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import said, shell

MINE = """
import math, random
chance = random.Random(7)

def noise(latitude, longitude, shorter):
    angle, radius = chance.uniform(0, 2 * math.pi), chance.gammavariate(2, 1 / 5) / 6371.0088
    return (latitude + math.degrees(radius * math.sin(angle)),
            longitude + math.degrees(radius * math.cos(angle)) / shorter)

def honest(latitude, longitude):
    return noise(latitude, longitude, math.cos(math.radians(latitude)))

def wrong_axes(latitude, longitude):
    return noise(latitude, longitude, 1.0)

def one_in_four(latitude, longitude):
    if chance.random() < 0.25:
        return latitude, longitude
    return honest(latitude, longitude)

def many(latitude, longitude, count):
    return [honest(latitude, longitude) for _ in range(count)]

def itself(cell):
    return cell

def constant(cell, count, seed=None):
    return ["89283082803ffff"] * count

def broken(latitude, longitude):
    raise ZeroDivisionError

number = 5
"""
DRAWS = ("--draws", "40000")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["honest", "many"])
def test_an_honest_sampler_is_not_refuted(folder, name):
    answer = shell(["audit", "--sampler", f"mine:{name}", "--epsilon", "5", *DRAWS], folder)
    assert answer.code == 0, answer.err
    assert "not refuted" in answer.out
    assert "never prove" in answer.out


def test_wrong_axes_end_with_1_and_in_json(folder):
    words = ["audit", "--sampler", "mine:wrong_axes", "--epsilon", "5", "--json", *DRAWS]
    answer = shell(words, folder)
    assert answer.code == 1
    verdict = json.loads(answer.out)
    assert verdict["refuted"] is True
    assert verdict["epsilon_at_least_per_km"] > 5
    assert verdict["draws"] == 40_000


def test_the_exact_place_one_time_in_four_ends_with_1(folder):
    answer = shell(["audit", "--sampler", "mine:one_in_four", "--epsilon", "5", *DRAWS], folder)
    assert answer.code == 1
    assert "refuted" in answer.out


def test_samplers_of_cells(folder):
    words = ["audit", "--epsilon", "5", "--cell", "882830828bfffff", *DRAWS]
    assert shell([*words, "--sampler", "mine:itself"], folder).code == 1
    assert shell([*words, "--sampler", "mine:constant"], folder).code == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mine:broken"], "failed with ZeroDivisionError"),
        (["mine:nothing"], "can be imported"),
        (["nothing:mine"], "can be imported"),
        (["mine:number"], "is not a function"),
        (["mine"], "module:function"),
        (["mine:itself"], "failed with TypeError"),
        (["mine:honest", "--at", "here"], "a latitude and a longitude"),
        (["mine:honest", "--at", "89.9,0"], "reach a pole"),
        (["mine:honest", "--confidence", "1"], "confidence"),
        (["mine:honest", "matrix.npz"], "one of the two"),
    ],
)
def test_refusals_are_one_sentence(folder, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(folder)
    answer = said(capsys, "audit", "--sampler", *words, "--epsilon", "5", *DRAWS)
    assert answer.code == 2
    assert sentence in answer.err
    assert len(answer.err.strip().splitlines()) == 1
