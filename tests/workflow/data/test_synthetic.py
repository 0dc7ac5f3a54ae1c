"""Generators and bundled sets: their published moments, and those of the real sets."""

import numpy as np
import pytest
from data.bundled import load_titanic
from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare
from data.synthetic import GENERATORS, ringnorm, skewed_ringnorm, twonorm, waveform

from svmselect.standardise import standardise

N = 100_000
IDA = ("ringnorm", "twonorm", "waveform")


@pytest.mark.parametrize("name", GENERATORS)
def test_generators_are_seeded(name):
    generator = GENERATORS[name]
    X, y = generator(50, 3)
    again, _ = generator(50, 3)
    other, _ = generator(50, 4)
    assert np.array_equal(X, again) and not np.array_equal(X, other)
    assert X.dtype == np.float64 and y.dtype == np.int8 and set(y) == {-1, 1}
    with pytest.raises(ValueError, match="n must be at least 1, found 0"):
        generator(0, 3)


def moments(X, y, sign):
    return X[y == sign].mean(axis=0), np.cov(X[y == sign].T)


def test_twonorm_moments():
    X, y = twonorm(N, 1)
    for sign in (-1, 1):
        mean, covariance = moments(X, y, sign)
        assert np.abs(mean - sign * 2 / np.sqrt(20)).max() < 0.025
        assert np.abs(covariance - np.eye(20)).max() < 0.035


def test_ringnorm_moments():
    X, y = ringnorm(N, 1)
    mean, covariance = moments(X, y, 1)
    assert np.abs(mean).max() < 0.05 and np.abs(covariance - 4 * np.eye(20)).max() < 0.14
    mean, covariance = moments(X, y, -1)
    assert np.abs(mean - 2 / np.sqrt(20)).max() < 0.025 and np.abs(covariance - np.eye(20)).max() < 0.035


def test_waveform_moments():
    """The mean of a class is the mean of its two waves; u and 1 - u have variance 1/12, covariance -1/12."""
    X, y = waveform(N, 1)
    j = np.arange(1, 22)
    first, second, third = (np.maximum(6 - np.abs(j - peak), 0) for peak in (7, 11, 15))
    mean, covariance = moments(X, y, 1)
    assert np.abs(mean - (first + second) / 2).max() < 0.05
    expected = np.outer(first - second, first - second) / 12 + np.eye(21)
    assert np.abs(covariance - expected).max() < 0.15
    mean, _ = moments(X, y, -1)
    assert np.abs(mean - (first + second + 2 * third) / 4).max() < 0.05
    assert abs((y == 1).mean() - 1 / 3) < 0.01


def test_skewed_ringnorm_moments():
    X, y = skewed_ringnorm(N, 1, 40)
    assert X.shape == (N, 40) and abs((y > 0).mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / N)
    mean, covariance = moments(X, y, 1)
    assert np.abs(mean - 1).max() < 0.03 and np.abs(covariance - np.eye(40)).max() < 0.05
    mean, covariance = moments(X, y, -1)
    assert np.abs(mean).max() < 0.05 and np.abs(covariance - 4 * np.eye(40)).max() < 0.14


@pytest.mark.parametrize("name", IDA)
def test_generators_have_the_moments_of_the_real_sets(name, registry, mirror, tmp_path):
    """Class means, deviations and correlations agree within what chance gives, at 5 standard errors."""
    fetch(registry[name], tmp_path / "raw", mirror=mirror)
    prepare(registry[name], tmp_path / "raw", tmp_path / "real.npz")
    real = Dataset.load(tmp_path / "real.npz")
    assert np.allclose(real.X.std(axis=0, ddof=1), 1, atol=1e-6)  # the IDA files divide by n - 1
    X, y = GENERATORS[name](N, 1)
    X = standardise(X)
    upper = np.triu_indices(X.shape[1], 1)
    for sign in (-1, 1):
        a, b = real.X[real.y == sign], X[y == sign]
        n = len(a)
        assert abs(n / len(real.y) - len(b) / N) < 5 * 0.5 / np.sqrt(len(real.y))
        error = b.std(axis=0) / np.sqrt(n)
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) / error).max() < 5
        assert (np.abs(a.std(axis=0) / b.std(axis=0) - 1) * np.sqrt(2 * n)).max() < 5
        correlations = np.corrcoef(a.T)[upper] - np.corrcoef(b.T)[upper]
        assert (np.abs(correlations) * np.sqrt(n)).max() < 5


def test_the_real_ringnorm_is_not_the_one_of_the_report(registry, mirror, tmp_path):
    fetch(registry["ringnorm"], tmp_path / "raw", mirror=mirror)
    prepare(registry["ringnorm"], tmp_path / "raw", tmp_path / "real.npz")
    real = Dataset.load(tmp_path / "real.npz")
    wide, narrow = real.X[real.y == 1], real.X[real.y == -1]
    distance = ((narrow.mean(axis=0) - wide.mean(axis=0)) / narrow.std(axis=0)).mean()
    error = np.sqrt((4 / len(wide) + 1 / len(narrow)) / 20)
    assert abs(distance - 2 / np.sqrt(20)) < 3 * error
    assert abs(distance - 1 / np.sqrt(20)) > 20 * error


def test_titanic_counts():
    X, y = load_titanic()
    assert X.shape == (2201, 3) and (y == 1).sum() == 711
    # Published margins: 325, 285, 706, 885 by class; 109 children; 470 women and girls.
    assert [(X[:, 0] == k).sum() for k in (1, 2, 3, 4)] == [325, 285, 706, 885]
    assert X[:, 1].sum() == 109 and (X[:, 2] == 0).sum() == 470


def test_titanic_is_the_real_set(registry, mirror, tmp_path):
    pairs = []
    for name in ("titanic", "titanic-table"):
        fetch(registry[name], tmp_path / "raw", mirror=mirror)
        prepare(registry[name], tmp_path / "raw", tmp_path / f"{name}.npz")
        dataset = Dataset.load(tmp_path / f"{name}.npz")
        rows = np.column_stack([dataset.X, dataset.y]).round(6)
        pairs.append(np.unique(rows, axis=0, return_counts=True))
    (real, real_counts), (table, counts) = pairs
    assert len(real) == 24 and np.allclose(real, table, atol=1e-6)
    assert np.array_equal(real_counts, counts)


def test_standardise():
    X = np.array([[1.0, 7.0], [2.0, 7.0], [6.0, 7.0]])
    result = standardise(X)
    assert np.allclose(result.mean(axis=0), 0) and np.isclose(result[:, 0].std(ddof=1), 1)
    assert (result[:, 1] == 0).all()
