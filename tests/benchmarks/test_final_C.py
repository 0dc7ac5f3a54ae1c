"""The benchmark of C in Table 1 of Bakir et al., on two Gaussian classes."""

import final_C
import numpy as np
import pytest
from csv_rows import read_rows, write_rows
from papers.bakir2004.problem import Problem, gaussians

SETTINGS = {
    "dataset": "gaussians",
    "train": 200,
    "test": 300,
    "scale": "none",
    "subsets": 3,
    "subset_size": 60,
    "C": [0.1, 10],
    "memory_mb": 100,
}


def test_rows_and_means(tmp_path, monkeypatch):
    def of_dataset(dataset, realisation, train, test, scale):
        rng = np.random.default_rng(realisation)
        return Problem(*gaussians(train, 2.0, rng), *gaussians(test, 2.0, rng), {})

    monkeypatch.setattr(final_C, "of_dataset", of_dataset)
    rows = [row for realisation in (1, 2) for row in final_C.measure(SETTINGS, 0.05, None, realisation)]
    assert [(row["realisation"], row["C"]) for row in rows] == [(1, 0.1), (1, 10), (2, 0.1), (2, 10)]
    for one, other in (rows[:2], rows[2:]):
        assert one["first_C"] == other["first_C"]
        # a larger C bounds fewer
        assert one["svm_svs"] > other["svm_svs"]
        assert one["cross_training_svs"] < one["svm_svs"]
        assert min(one["svm_accuracy"], one["cross_training_accuracy"]) > 70
    path = tmp_path / "final_C.csv"
    write_rows(path, rows, final_C.report(rows))
    assert len(read_rows(path)) == 4
    mean = np.mean([row["cross_training_svs"] for row in rows[::2]])
    (line,) = [line for line in path.with_suffix(".md").read_text().splitlines() if "| 0.1 | 2 |" in line]
    assert float(line.split("|")[-2]) == pytest.approx(mean, abs=0.5)


def test_the_sets_are_those_of_table_1():
    assert "forest-50000" in final_C.table1() and "forest-200000" not in final_C.table1()
