"""Logs on even steps: gaps follow the signal, spikes go, noise and turning points stay; nothing is copied."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.documents import csv_columns
from emdeg.identification.evening import even_pieces
from emdeg.identification.recording import read_log

RATE = 200.0


@pytest.fixture
def written(tmp_path):
    robot = emdeg.load("planar2r")

    def write(t, q, tau):
        path = tmp_path / "log.csv"
        path.write_text(csv_columns(["t", "q_q1", "q_q2", "tau_q1", "tau_q2"], [t, *q.T, *tau.T]))
        return read_log(path, robot)

    return write


@pytest.fixture
def motion():
    t = np.arange(4000) / RATE
    q = np.stack([np.sin(2 * np.pi * 0.7 * t), 0.5 * np.cos(2 * np.pi * 1.1 * t)], axis=1)
    return t, q, 3 * q


def test_gaps_and_spikes_follow_their_neighbours(written, motion):
    t, q, tau = motion
    spoiled = q.copy()
    spoiled[1000, 0] += 3.0
    kept = np.ones(len(t), dtype=bool)
    kept[[500, 501, 502, 2000, 3100, 3101]] = False
    notes: list[str] = []
    (piece,) = even_pieces(written(t[kept], spoiled[kept], tau[kept]), notes)
    assert "spikes" in notes[0]
    np.testing.assert_allclose(piece.t, t, atol=1e-9)
    np.testing.assert_allclose(piece.q, q, atol=1e-5)
    np.testing.assert_allclose(piece.tau, tau, atol=1e-2)  # efforts are bridged by lines: they may jump


def test_uneven_times_are_taken_as_they_are_written(written, motion):
    t, _, _ = motion
    late = t + 0.3 / RATE * np.random.default_rng(0).uniform(-1, 1, size=len(t))
    q = np.stack([np.sin(2 * np.pi * 0.7 * late), 0.5 * np.cos(2 * np.pi * 1.1 * late)], axis=1)
    (piece,) = even_pieces(written(late, q, 3 * q), [])
    expected = np.sin(2 * np.pi * 0.7 * piece.t)
    np.testing.assert_allclose(piece.q[5:-5, 0], expected[5:-5], atol=1e-6)


def test_noise_at_a_turning_point_is_no_spike(written, motion):
    """Where a motion goes one way, samples are their neighbours' median; where it turns, the noise shows."""
    t, q, tau = motion
    noisy = q + 1e-5 * np.random.default_rng(0).normal(size=q.shape)
    notes: list[str] = []
    even_pieces(written(t, noisy, tau), notes)
    assert notes == []


def test_a_whole_log_is_not_copied(written, motion):
    log = written(*motion)
    (piece,) = even_pieces(log, [])
    assert np.shares_memory(piece.q, log.table.values)
    assert np.shares_memory(piece.tau, log.table.values)
