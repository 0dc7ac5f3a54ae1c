"""The option --groups: rows of a group are held out together."""

import json
import re

import numpy as np
import pytest
from estimators.problems import blobs
from sklearn.model_selection import StratifiedGroupKFold, cross_val_score
from sklearn.svm import SVC as LIBSVM

from svmselect.sklearn import SVC, SeededCV


@pytest.fixture
def patients(tmp_path):
    """Five rows of each of 24 patients, who differ more than the classes do; patients.csv."""
    rng = np.random.default_rng(8)
    means, labels = blobs(3, m=24, k=2)
    X = np.repeat(means * [1, 1, 0.1], 5, axis=0) + rng.normal(scale=0.05, size=(120, 3))
    y, groups = np.repeat(labels, 5), np.repeat([f"p{n}" for n in range(24)], 5)
    order = rng.permutation(120)
    X, y, groups = X[order], np.array(["ill", "well"])[y[order]], groups[order]
    rows = [",".join([g, *map(repr, x), label]) for g, x, label in zip(groups, X.tolist(), y, strict=True)]
    (tmp_path / "patients.csv").write_text("\n".join(["patient,a,b,c,state", *rows, ""]))
    return X, y, groups


def splits(k, y, groups):
    return list(StratifiedGroupKFold(k, shuffle=True, random_state=0).split(y, y, groups))


def test_cv(patients, run):
    X, y, groups = patients
    words = ("cv", "patients.csv", "--folds", 4, "--C", 100, "--gamma", 2, "--groups", "patient")
    status, out, err = run(*words, "--json")
    said = json.loads(out)
    expected = 1 - cross_val_score(LIBSVM(C=100, gamma=2), X, y, cv=splits(4, y, groups))
    assert (status, err, said["groups"], said["features"]) == (0, "", 24, 3)
    np.testing.assert_allclose(said["fold_errors"], expected, atol=1e-12)
    assert "; 24 groups" in run(*words)[1]
    apart = json.loads(run(*words[:-2], "--ignore", "patient", "--json")[1])
    assert apart["cv_error"] + 0.1 < said["cv_error"]  # which knows the patients


def test_select_and_the_whole_selection(patients, run):
    X, y, groups = patients
    words = ("select", "patients.csv", "--C", "1,100", "--gamma", "0.02,2")
    said = json.loads(run(*words, "--groups", "patient", "--outer", 4, "--json")[1])
    grid = {"C": [1, 100], "gamma": [0.02, 2]}
    search = SeededCV(SVC(), grid, cv=splits(3, y, groups)).fit(X, y)
    assert {name: said[name] for name in grid} == search.best_params_
    assert said["error"] == pytest.approx(1 - search.best_score_)
    expected = []
    for train, test in splits(4, y, groups):
        inner = SeededCV(SVC(), grid, cv=splits(3, y[train], groups[train])).fit(X[train], y[train])
        expected.append(int(np.sum(inner.predict(X[test]) != y[test])))
    assert said["outer_errors"] == expected


def test_a_model_of_grouped_rows_takes_rows_without_groups(patients, run, tmp_path):
    X, y, _ = patients
    words = ("select", "patients.csv", "--by", "cv", "--C", "1", "--gamma", "1", "--groups", "patient")
    assert run(*words, "--folds", 3, "--save", "m.json")[0] == 0
    expected = SVC(1, gamma=1).fit(X, y).predict(X).tolist()
    assert run("predict", "m.json", "patients.csv")[1].splitlines()[:-1] == expected
    rows = [",".join(map(repr, x)) for x in X.tolist()]
    (tmp_path / "new.csv").write_text("\n".join(["a,b,c", *rows, ""]))
    assert run("predict", "m.json", "new.csv")[1].splitlines() == expected


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("select", "--by", "loo"),
            "--by loo leaves out single rows, and the others of their group would stay: it cannot go with "
            "--groups, which is for --by cv",
        ),
        (("select", "--calibration", "sigmoid"), "--calibration leaves out single rows"),
        (("select", "--threshold", "accuracy"), "--threshold leaves out single rows"),
        (("cv", "--folds", "25"), "--folds must be from 2 to the 24 groups of --groups, got 25"),
        (("cv", "--label", "patient"), "patients.csv: the groups' column 'patient' is the label's"),
        (("cv", "--ignore", "patient"), "patients.csv: the groups' column 'patient' is an ignored one"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(patients, run, words, sentence):
    status, out, err = run(words[0], "patients.csv", *words[1:], "--groups", "patient")
    assert (status, out) == (2, "") and err.startswith(f"svmselect: error: {sentence}")
    assert err.count("\n") == 1


def test_groups_that_cannot_be_split(patients, run, tmp_path):
    (tmp_path / "a.csv").write_text("g,x,y\n" + "".join(f"{n % 2},{n / 7},{n % 2}\n" for n in range(20)))
    status, out, err = run("cv", "a.csv", "--groups", "g", "--folds", 2)
    assert (status, out) == (2, "") and err.count("\n") == 1
    # which of the two depends on the version of scikit-learn, which makes the folds
    assert re.search("--folds 2 with --groups leaves no row of class [01] to train on in fold", err)
    (tmp_path / "b.csv").write_text(
        "g,x,y\n" + "".join(f"{n % 5 or ''},{n / 7},{n % 2}\n" for n in range(20))
    )
    status, out, err = run("cv", "b.csv", "--groups", "g", "--folds", 2)
    assert (status, out) == (2, "") and "b.csv, line 2, column 'g': the value is missing" in err
    (tmp_path / "c").write_text("1 1:2\n-1 1:3\n")
    status, out, err = run("cv", "c", "--groups", "g", "--folds", 2)
    assert (status, out) == (2, "") and "--groups is for CSV files, and this one is LIBSVM text" in err


def test_a_page_shows_rows_whose_group_was_held_out(patients, run, tmp_path):
    pytest.importorskip("matplotlib")
    X, y, groups = patients
    words = (
        "--by",
        "cv",
        "--folds",
        4,
        "--C",
        100,
        "--gamma",
        2,
        "--groups",
        "patient",
        "--report",
        "page.html",
    )
    assert run("select", "patients.csv", *words)[0] == 0
    predicted = np.empty_like(y)
    for train, test in splits(4, y, groups):
        predicted[test] = SVC(100, gamma=2).fit(X[train], y[train]).predict(X[test])
    wrong = int(np.sum(predicted != y))
    text = (tmp_path / "page.html").read_text()
    assert (
        wrong > 10
        and f"{wrong} of 120 rows are misclassified" in text
        and "leave-one-out" not in text.lower()
    )


def test_a_score_needs_every_class_in_every_fold(run, tmp_path):
    rows = "".join(f"{n % 10},{n / 7},{'xy'[n % 2]}\n" for n in range(40))
    (tmp_path / "pure.csv").write_text(f"g,x,y\n{rows}")
    words = ("cv", "pure.csv", "--groups", "g", "--folds", 10)
    status, out, err = run(*words, "--scoring", "roc_auc")
    assert (status, out) == (2, "") and err.count("\n") == 1
    assert "--folds 10 with --groups leaves no row of class y to score roc_auc by in fold 1: " in err
    assert run(*words, "--scoring", "accuracy")[0] == run(*words)[0] == 0
