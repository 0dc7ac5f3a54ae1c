"""What the commands compute, print and refuse, for the three tasks."""

import os
import re
import shlex
import subprocess
import sys
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from svmselect.cli import COMMANDS, exit_status
from svmselect.cli.arguments import parser
from svmselect.sklearn import SVC, SVR, LOOSearchCV, OneClassSVM, SeededCV

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + 0.7 * RNG.normal(size=60) > 0).astype(int)
Z = 3 * X[:, 0] + X[:, 1] + 0.2 * RNG.normal(size=60)
CITY = np.array(["Oslo", "Rome", "Bonn"])[np.arange(60) % 3]
FRAME = pd.DataFrame(X, columns=["age", "dose", "weight"])
GRID = {"C": [1.0, 10.0], "gamma": [0.1, 1.0]}
WORDS = ("--C", "1,10", "--gamma", "0.1,1")


@pytest.fixture
def files(tmp_path):
    """A table of each task, and one of words."""
    tables = {
        "classes": FRAME.assign(target=Y),
        "numbers": FRAME.assign(target=Z),
        "rows": FRAME,
        "labelled": FRAME.assign(state=np.where(Y, "fine", "worn")),
        "words": FRAME.assign(city=CITY, target=np.where(Y, "ill", "well")),
        "visits": FRAME.assign(patient=[f"p{n // 5}" for n in range(60)], target=Y),
    }
    for name, frame in tables.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return {name: str(tmp_path / f"{name}.csv") for name in tables}


def test_loo_of_classes_is_that_of_the_estimator(said, files):
    model = SVC(C=2, gamma=0.3).fit(X, Y)
    result = said("loo", files["classes"], "--C", "2", "--gamma", "0.3", "--scoring", "f1:0")
    assert result["loo_error"] == model.loo_error_
    assert result["misclassified_rows"] == (1 + np.flatnonzero(model.loo_predictions_ != Y)).tolist()
    assert result["support_vectors"] == model.support_.size
    assert result["training_error"] == pytest.approx(1 - model.score(X, Y))
    assert result["baseline_error"] == pytest.approx(1 - np.bincount(Y).max() / 60)
    from sklearn.metrics import f1_score

    assert result["score"] == pytest.approx(f1_score(Y, model.loo_predictions_, pos_label=0))


def test_loo_of_numbers_is_that_of_the_estimator(said, files):
    model = SVR(C=2, gamma=0.3, epsilon=0.2).fit(X, Z)
    words = ("--C", "2", "--gamma", "0.3", "--set", "epsilon=0.2", "--scoring", "r2")
    result = said("loo", files["numbers"], *words)
    np.testing.assert_array_equal(result["loo_predictions"], model.loo_predictions_)
    assert result["loo_mean_absolute_error"] == pytest.approx(np.abs(model.loo_residuals_).mean())
    assert result["score"] == pytest.approx(result["loo_r2"])
    assert result["baseline_mean_absolute_error"] == pytest.approx(np.abs(Z - np.median(Z)).mean())


def test_loo_of_one_class_counts_the_rows_of_each_label(said, files):
    model = OneClassSVM(nu=0.2, gamma=0.3).fit(X)
    words = ("--task", "one-class", "--set", "nu=0.2", "--gamma", "0.3")
    result = said("loo", files["rows"], *words)
    np.testing.assert_array_equal(result["loo_decision_values"], model.loo_decision_)
    assert result["loo_rejection_rate"] == model.loo_rejection_rate_ and result["label"] is None
    result = said("loo", files["labelled"], *words, "--label", "state", "--scoring", "roc_auc:fine")
    rejected = model.loo_decision_ < 0
    assert result["loo_rejected_by_class"] == {"fine": rejected[Y == 1].sum(), "worn": rejected[Y == 0].sum()}
    assert result["score"] == pytest.approx(model.loo_score("roc_auc", 2 * Y - 1))


def test_cv_and_span(said, files):
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    wrong = cross_val_predict(SVC(gamma=0.3), X, Y, cv=folds) != Y
    result = said("cv", files["classes"], "--gamma", "0.3", "--folds", "5", "--seed", "7")
    assert np.mean(result["fold_errors"]) == pytest.approx(wrong.mean())
    predicted = cross_val_predict(SVR(gamma=0.3), X, Z, cv=KFold(10, shuffle=True, random_state=0))
    result = said("cv", files["numbers"], "--gamma", "0.3")
    assert result["cv_mean_absolute_error"] == pytest.approx(np.abs(predicted - Z).mean())
    assert said("span", files["classes"])["span_estimate"] == SVC().fit(X, Y).span_estimate_
    assert said("span", files["numbers"])["span_mean_absolute_error"] == SVR().fit(X, Z).span_estimate_


@pytest.mark.parametrize("by", ["cv", "loo"])
def test_select_is_the_search_of_the_library(by, said, files, searched):
    result = said("select", files["classes"], *WORDS, "--by", by)
    search = LOOSearchCV(SVC(), GRID).fit(X, Y) if by == "loo" else searched(X, Y, GRID)
    assert {name: result[name] for name in GRID} == search.best_params_
    assert result["error"] == pytest.approx(1 - search.best_score_)
    errors = sorted(1 - search.cv_results_["mean_test_score"])
    np.testing.assert_allclose([m["error"] for m in result["models"]], errors)


def test_select_of_numbers_and_of_one_class(said, files):
    search = LOOSearchCV(SVR(), {**GRID, "epsilon": [0.1, 1]}, scoring="neg_mean_absolute_error").fit(X, Z)
    result = said("select", files["numbers"], *WORDS, "--set", "epsilon=0.1,1", "--by", "loo")
    assert {name: result[name] for name in search.best_params_} == search.best_params_
    assert result["mean_absolute_error"] == -search.best_score_
    search = LOOSearchCV(OneClassSVM(), {"nu": [0.1], "gamma": [0.1, 1]}).fit(X)
    words = ("--task", "one-class", "--set", "nu=0.1", "--gamma", "0.1,1")
    result = said("select", files["rows"], *words)
    assert result["gamma"] == search.best_params_["gamma"] and result["by"] == "loo"
    assert [m["consistent"] for m in result["models"]] == sorted(
        search.cv_results_["consistent"], reverse=True
    )


@pytest.mark.parametrize("by", ["span", "opper_winther", "xi_alpha"])
def test_select_by_an_estimate_from_one_fit(by, said, files):
    search = LOOSearchCV(SVC(), GRID, criterion=by).fit(X, Y)
    result = said("select", files["classes"], *WORDS, "--by", by)
    assert {name: result[name] for name in GRID} == search.best_params_
    if by == "span":
        assert said("select", files["numbers"], *WORDS, "--by", by)["by"] == by


@pytest.mark.parametrize("rule", ["middle", "one_standard_error"])
def test_select_by_a_rule(rule, said, files, searched):
    search = searched(X, Y, GRID, refit=rule)
    result = said("select", files["classes"], *WORDS, "--rule", rule)
    assert {name: result[name] for name in GRID} == search.best_params_ and result["rule"] == rule


def test_a_scorer_that_needs_probabilities_gets_them(said, files, searched):
    result = said("select", files["classes"], *WORDS, "--scoring", "neg_log_loss")
    search = searched(X, Y, GRID, SVC(calibration="loo"), scoring="neg_log_loss")
    assert result["score"] == search.best_score_


def test_outer_folds_learn_everything_anew(said, files):
    """Categories, scales, the grid and the choice."""
    frame = FRAME.assign(city=CITY)
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), list(FRAME)), ("words", OneHotEncoder(sparse_output=False), ["city"])]
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    whole = make_pipeline(columns, SeededCV(SVC(), cv=folds))
    predicted = cross_val_predict(whole, frame, Y, cv=StratifiedKFold(4, shuffle=True, random_state=0))
    result = said("select", files["words"], "--standardise", "--outer", "4")
    assert result["outer_error"] == pytest.approx((predicted != Y).mean())
    assert sum(result["outer_errors"]) == (predicted != Y).sum() and len(result["outer_errors"]) == 4


def test_groups_are_held_out_together(said, files, run):
    groups = np.array([f"p{n // 5}" for n in range(60)])
    search = SeededCV(SVC(), GRID, cv=StratifiedGroupKFold(3, shuffle=True, random_state=0))
    search.fit(X, Y, groups=groups)
    result = said("select", files["visits"], *WORDS, "--groups", "patient", "--outer", "3")
    assert result["error"] == pytest.approx(1 - search.best_score_) and result["groups"] == 12
    assert result["features"] == 3 and "outer_error" in result
    path = files["visits"]
    regression = said("cv", path, "--task", "regression", "--groups", "patient", "--folds", "4")
    predicted = cross_val_predict(SVR(), X, Y, groups=groups, cv=GroupKFold(4, shuffle=True, random_state=0))
    assert regression["cv_mean_absolute_error"] == pytest.approx(np.abs(predicted - Y).mean(), abs=1e-3)
    for words, named in ((("--by", "loo"), "--by loo"), (("--folds", "20"), "12 groups")):
        assert named in run("select", path, "--groups", "patient", *words)[2]


def test_remarks_name_what_may_be_wrong(run, file):
    rows = "".join(
        f"{n},{n * 1000},{(n * 7 % 11) / 7},{['Ill', 'ill', 'well'][n % 3]},{['a', 'b'][n % 2]}\n"
        for n in range(24)
    )
    status, out, err = run(
        "select", file(f"user_id,big,x,state,kind\n{rows}"), "--label", "state", "--C", "1,2,4"
    )
    remarks = err.splitlines()
    assert status == 0 and 3 <= len(remarks) <= 5
    for words in (
        ("'user_id'", "--ignore"),
        ("'Ill' and 'ill'",),
        ("--standardise", "factor"),
        ("'kind'", "--categorical"),
    ):
        assert sum(all(word in remark for word in words) for remark in remarks) == 1
    assert "optimistic" in out and "--outer" in out


def test_people_read_shares_in_per_cent_and_scores_by_name(run, files):
    """In the table, and in the sentence on the choice."""
    out = run("select", files["classes"], *WORDS)[1]
    (best,) = (line for line in out.splitlines() if line.startswith("Best of"))
    assert re.search(r"3-fold error, \d+\.\d\d %:", best) and re.search(r"1  +0\.1  +\d+\.\d\d %", out)
    out = run("loo", files["classes"], "--scoring", "roc_auc")[1]
    assert re.search(r"leave-one-out error +\d+\.\d\d %", out) and re.search(r"roc auc +0\.\d", out)


def test_a_threshold_is_for_two_classes(run, file):
    rows = "".join(f"{n / 7},{'abc'[n % 3]}\n" for n in range(30))
    words = ("train", file(f"x,label\n{rows}"), "--save", "m")
    assert "two classes" in run(*words, "--threshold", "f1:a")[2]
    err = run("loo", *words[1:2], "--scoring", "f1")[2]
    assert "f1_macro" in err and "f1:b" not in err


def test_infinite_estimates_rank_last_without_other_words(run, files):
    """Of a regression whose rows are nearly all bounded."""
    words = ("--by", "span", "--C", "1e-6,1", "--gamma", "0.1", "--set", "epsilon=1e-6")
    assert "subtract" not in run("select", files["numbers"], *words)[2]


def test_a_model_at_the_end_of_a_list_is_named(run, files):
    _, out, err = run("select", files["classes"], "--gamma", "0.01,0.1,1", "--C", "1")
    assert "gamma=0.01, next 0.001" in out and err == ""


def test_a_constant_model_is_named(run, file, said):
    rows = "".join(f"{n % 7},{'rare' if n % 9 == 0 else 'usual'}\n" for n in range(50))
    words = ("loo", file(f"x,label\n{rows}"), "--C", "0.001")
    assert "the class usual" in run(*words)[1] and said(*words)["constant"] == "usual"


def test_numbers_are_named_where_classes_have_too_few_rows(run, file):
    rows = "".join(f"{n / 7},{n // 2}\n" for n in range(12))
    status, _, err = run("cv", file(f"x,target\n{rows}"), "--task", "classification")
    assert status == 2 and "--task regression" in err and "--folds" in err


@pytest.mark.parametrize("option", ["--set", "--scoring"])
def test_names_that_nothing_has_are_answered_by_the_nearest(option, run, files):
    word, near = {"--set": ("degre=2", "degree"), "--scoring": ("roc_au", "roc_auc")}[option]
    status, out, err = run("loo", files["classes"], option, word)
    assert (status, out) == (2, "") and near in err


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("select", "--standardze"), "--standardise"),
        (("loo", "--scorin", "f1"), "--scoring"),
        (("cv", "--save", "m"), "svmselect cv"),
    ],
)
def test_an_unknown_option_shows_the_usage_of_its_command(words, near, run, files):
    status, _, err = run(words[0], files["classes"], *words[1:])
    assert status == 2 and err.startswith(f"usage: svmselect {words[0]} ") and near in err


def test_select_has_few_options():
    (choices,) = [action.choices for action in parser(COMMANDS)._actions if hasattr(action, "add_parser")]
    options = [action for action in choices["select"]._actions if action.option_strings]
    assert len(options) - 1 <= 25  # without --help
    assert all(len(choice._actions) <= 30 for choice in choices.values())


def test_american_spelling_is_a_synonym(said, files):
    assert said("loo", files["classes"], "--standardize") | {"seconds": 0} == said(
        "loo", files["classes"], "--standardise"
    ) | {"seconds": 0}


REFUSED = {
    ("--task", "one-class", "--C", "2"): "--C",
    ("--set", "C=2"): "--C",
    ("--set", "epsilon=0.1", "--task", "classification"): "epsilon",
    ("--scoring", "silhouette"): "silhouette",
    ("--scoring", "f1:7"): "7",
    ("--scoring", "accuracy:1"): "accuracy",
    ("--C", "-1"): "-1",
    ("--C", "nan"): "nan",
    ("--gamma", "1_0"): "1_0",
    ("--set", "degree"): "degree",
    ("--set", "degree=2,3"): "degree",
    ("--max-bytes", "0"): "0",
    ("--categorical", "target"): "target",
    ("--ignore", "target"): "target",
    ("--delimiter", "ab"): "ab",
    ("--zero-based",): "--zero-based",
}


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_options_that_cannot_be_are_named(words, run, files):
    status, out, err = run("loo", files["classes"], *words)
    assert (status, out) == (2, "") and REFUSED[words] in err.splitlines()[-1]


@pytest.mark.parametrize("option", ["--save", "--report"])
def test_files_are_checked_before_the_work(option, run, files, tmp_path):
    path = files["classes"]
    (tmp_path / "folder.html").mkdir()
    places = {
        "nowhere/x.html": "no folder",
        "folder.html": "is a folder",
        "/dev/null": "device",
        path: "written over",
    }
    for place, words in places.items():
        status, out, err = run("select", path, option, place)
        assert (status, out) == (2, "") and place in err
        assert words in err or (option == "--report" and ".html" in err)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.skipif(os.getuid() == 0, reason="the superuser may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(run, files, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    assert "closed" in run("select", files["classes"], "--save", tmp_path / "closed/m.skops")[2]


def test_a_report_of_all_models_is_a_csv_file(run, files, tmp_path):
    assert run("select", files["classes"], *WORDS, "--report", "models.csv", "--report", "models.pdf")[0] == 0
    table = pd.read_csv(tmp_path / "models.csv")
    assert (
        list(table) == ["C", "gamma", "error"] and len(table) == 4 and (np.diff(table["error"]) > -1e-9).all()
    )
    assert (tmp_path / "models.pdf").read_bytes().startswith(b"%PDF")


ESCAPE = "n\x1b[31mX\x07\u202e"


def test_no_terminal_obeys_the_text_of_a_file(run, file):
    rows = "".join(f"{n},{'x' if n % 2 else ESCAPE}\n" for n in range(8))
    for words in ((), ("--label", "1"), ("--label", ESCAPE)):
        _, out, err = run("loo", file(f"a,{ESCAPE}\n{rows}"), *words)
        assert all(c.isprintable() for c in (out + err).replace("\n", ""))


def test_a_reader_that_stops_ends_the_command(files):
    command = f"{shlex.quote(sys.executable)} -m svmselect.cli loo {files['classes']} --json | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "{\n" and done.stderr == ""


def test_ctrl_c_is_one_word_and_a_status(capsys):
    def stopped(arguments):
        raise KeyboardInterrupt

    assert exit_status(Namespace(run=stopped)) == 130
    assert capsys.readouterr().err == "svmselect: stopped\n"


def test_help_and_version_import_nothing_slow():
    program = "import sys; from svmselect.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    program += "print([n for n in ('pandas', 'sklearn', 'matplotlib') if n in sys.modules], file=sys.stderr)"
    for words in (["--version"], ["select", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == "[]"
