"""Models that a command saves and Python loads, and the other way round."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.datasets import dump_svmlight_file
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from svmselect.sklearn import SVC, SVR, OneClassSVM, SeededCV, load_model, save_model

RNG = np.random.default_rng(5)
X = RNG.normal(size=(50, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=50) > 0).astype(int)
Z = 3 * X[:, 0] + X[:, 1]
FRAME = pd.DataFrame(X, columns=["age", "dose", "weight"]).assign(
    city=np.array(["Oslo", "Rome", "Bonn"])[np.arange(50) % 3], code=np.arange(50) % 4
)
STATE = np.array(["ill", "well"])[Y]


@pytest.fixture
def patients(tmp_path):
    FRAME.assign(state=STATE).to_csv(tmp_path / "patients.csv", index=False)
    gaps = FRAME.astype(object).mask(RNG.random(FRAME.shape) < 0.1)
    gaps.assign(state=STATE).to_csv(tmp_path / "gaps.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("name", ["patients.csv", "gaps.csv"])
@pytest.mark.parametrize("command", ["train", "select"])
def test_python_loads_what_a_command_saved(name, command, patients, said):
    words = ("--impute",) * (name == "gaps.csv") + ("--standardise", "--categorical", "code")
    said(command, name, *words, "--save", "m.skops", *(("--C", "1,10") if command == "select" else ()))
    frame = pd.read_csv(name)
    model = load_model("m.skops")
    result = said("predict", "m.skops", name, "--decision-values")
    assert model.predict(frame).tolist() == result["predictions"]
    assert model.decision_function(frame).tolist() == result["decision_values"]
    assert result["error"] == (model.predict(frame) != STATE).mean() and result["label"] == "column 'state'"
    # the order of columns does not matter, nor those that the model does not know
    frame[["state", "code", "city", "weight", "age", "dose"]].assign(more=1).to_csv("turned.csv", index=False)
    turned = said("predict", "m.skops", "turned.csv", "--label", "state", "--decision-values")
    assert turned["decision_values"] == result["decision_values"] and turned["error"] == result["error"]
    assert "--label" in " ".join(said("predict", "m.skops", "turned.csv")["doubts"])


def pipelines():
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["age", "dose", "weight"]),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["city"]),
        ]
    )
    yield make_pipeline(columns, SVC(calibration="loo")).fit(FRAME, STATE), FRAME
    yield make_pipeline(columns, SeededCV(SVC(), {"C": [1, 10]})).fit(FRAME, STATE), FRAME
    yield SVC(C=3).fit(FRAME[["dose", "age"]], STATE), FRAME[["age", "dose"]]
    yield make_pipeline(StandardScaler(), SVC()).fit(X, STATE), FRAME[["age", "dose", "weight"]]


@pytest.mark.parametrize("number", range(4))
def test_a_command_takes_what_python_saved(number, tmp_path, said):
    model, frame = [*pipelines()][number]
    save_model(model, tmp_path / "m.skops")
    frame.assign(state=STATE).to_csv(tmp_path / "rows.csv", index=False)
    result = said("predict", "m.skops", "rows.csv", "--decision-values")
    rows = (
        frame.to_numpy() if not hasattr(model, "feature_names_in_") else frame[list(model.feature_names_in_)]
    )
    assert result["predictions"] == model.predict(rows).tolist()
    assert result["decision_values"] == model.decision_function(rows).tolist()
    assert result["error"] == pytest.approx(1 - model.score(rows, STATE))
    if number == 0:
        probabilities = said("predict", "m.skops", "rows.csv", "--probabilities")["probabilities"]
        assert probabilities == model.predict_proba(rows).tolist()


def test_models_of_arrays_take_columns_by_position(tmp_path, said, run):
    save_model(SVC().fit(X, Y), tmp_path / "m.skops")
    expected = SVC().fit(X, Y).predict(X)
    for name, columns in {"bare": X, "labelled": np.column_stack([X, Y])}.items():
        pd.DataFrame(columns).to_csv(tmp_path / name, index=False, header=False)
        result = said("predict", "m.skops", name)
        assert [int(word) for word in result["predictions"]] == expected.tolist()
        assert ("error" in result) == (name == "labelled")
    pd.DataFrame(np.column_stack([Y, X])).to_csv(tmp_path / "first", index=False, header=False)
    assert said("predict", "m.skops", "first", "--label", "1")["errors"] == (expected != Y).sum()
    pd.DataFrame(X[:, :2]).to_csv(tmp_path / "few", index=False, header=False)
    status, _, err = run("predict", "m.skops", "few")
    assert status == 2 and "3 features" in err and "2 columns" in err


def test_features_that_are_missing_or_strange_are_named(patients, run, said):
    said("train", "patients.csv", "--save", "m.skops")
    table = (patients / "patients.csv").read_text()
    changes = {
        ("age", "AGE"): ("'age'",),
        ("Oslo", ""): ("line 2", "'city'", "missing", "--impute"),
        ("Oslo", "Paris"): (),
        (str(X[0, 1]), "high"): ("line 2", "'dose'", "'high'"),
        (str(X[0, 1]), '"1,5"'): ("line 2", "'dose'", "'1,5'"),
        ("state", "weight"): ("'weight'",),
    }
    for (old, new), named in changes.items():
        (patients / "other.csv").write_text(table.replace(old, new, 1))
        status, _, err = run("predict", "m.skops", "other.csv")
        assert status == (2 if named else 0) and all(word in err for word in named)
        assert named or ("'Paris'" in err and "'city'" in err)
    assert "age" in run("predict", "m.skops", "patients.csv", "--label", "age")[2]


def test_labels_that_the_model_does_not_know(patients, said, run):
    said("train", "patients.csv", "--save", "m.skops")
    frame = FRAME.assign(state=[*STATE[:-2], "dead", ""])
    frame.to_csv("other.csv", index=False)
    result = said("predict", "m.skops", "other.csv")
    assert result["rows_with_label"] == 49 and any("'dead'" in doubt for doubt in result["doubts"])
    FRAME.assign(other="x").to_csv("other.csv", index=False)
    assert "'x'" in run("predict", "m.skops", "other.csv")[2]


def test_numbers_and_their_intervals(tmp_path, said, run):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(price=Z).to_csv(tmp_path / "prices.csv", index=False)
    words = ("train", "prices.csv", "--task", "regression", "--standardise")
    said(*words, "--intervals", "--save", "with.skops")
    said(*words, "--save", "without.skops")
    scaled = StandardScaler().fit_transform(X)
    expected = SVR().fit(scaled, Z).predict_interval(scaled, 0.2)
    result = said("predict", "with.skops", "prices.csv", "--intervals", "0.2")
    np.testing.assert_allclose(result["intervals"], expected, rtol=1e-7)
    assert result["test_r2"] > 0.5
    assert run("predict", "with.skops", "prices.csv", "--intervals", "0.2", "--output", "out.csv")[0] == 0
    assert list(pd.read_csv("out.csv")) == ["predicted", "lower", "upper"]
    status, _, err = run("predict", "without.skops", "prices.csv", "--intervals", "0.2")
    assert status == 2 and "--intervals" in err
    status, _, err = run("predict", "with.skops", "prices.csv", "--decision-values")
    assert status == 2 and "decision values" in err


@pytest.mark.parametrize("sparse", [False, True])
def test_a_model_that_was_saved_after_its_intervals_has_them(sparse, tmp_path):
    rows = csr_array(np.where(X > 0, X, 0)) if sparse else X
    model = SVR(kernel="linear" if sparse else "rbf").fit(rows, Z, sample_weight=np.arange(50) % 5)
    expected = model.predict_interval(rows[:9], 0.1)
    save_model(model, tmp_path / "m.skops")
    np.testing.assert_allclose(
        load_model(tmp_path / "m.skops").predict_interval(rows[:9], 0.1), expected, rtol=1e-12
    )
    assert "_left_out_models" not in vars(SVR().fit(X, Z))


def test_one_class(tmp_path, said):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    said("train", "rows.csv", "--task", "one-class", "--set", "nu=0.2", "--save", "m.skops")
    model = OneClassSVM(nu=0.2).fit(X)
    result = said("predict", "m.skops", "rows.csv", "--decision-values")
    assert result["predictions"] == model.predict(X).tolist()
    assert result["rejected"] == (model.predict(X) < 0).sum()
    frame.assign(kind=STATE).to_csv(tmp_path / "rows.csv", index=False)
    assert set(said("predict", "m.skops", "rows.csv")["rejected_by_class"]) == {"ill", "well"}


def test_calibration_and_threshold(tmp_path, said):
    pd.DataFrame(X).assign(state=STATE).to_csv(tmp_path / "rows.csv", index=False, header=False)
    result = said(
        "train", "rows.csv", "--calibration", "isotonic", "--threshold", "f1:ill", "--save", "m.skops"
    )
    model = load_model("m.skops")
    assert result["threshold"] == model[-1].threshold_ != 0
    assert (
        said("predict", "m.skops", "rows.csv", "--probabilities")["probabilities"]
        == model.predict_proba(X).tolist()
    )


@pytest.mark.parametrize("zero_based", [False, True])
def test_libsvm_files_go_round(zero_based, tmp_path, said, run):
    words = ("--zero-based",) * zero_based
    rows, labels = np.where(X > 0, X, 0), 2 * Y - 1
    expected = SVC().fit(csr_array(rows), labels).decision_function(csr_array(rows))
    dump_svmlight_file(rows, labels, str(tmp_path / "rows"), zero_based=zero_based)
    for name, more in {"m.skops": (), "m.model": ("--save-as", "libsvm")}.items():
        result = said("train", "rows", *words, *more, "--save", name)
        assert result["features"] == 3
        predicted = said("predict", name, "rows", *words, "--decision-values")
        np.testing.assert_allclose(predicted["decision_values"], expected, atol=2e-3)
    if zero_based:
        assert "--zero-based" in run("predict", "m.skops", "rows")[2]
    (tmp_path / "beyond").write_text("1 1:0.5 7:1\n")
    assert "7" in said("predict", "m.skops", "beyond", *words)["doubts"][0]
    (tmp_path / "unlabelled").write_text("0 1:0.5\n0 2:1\n")
    assert "error" not in said("predict", "m.skops", "unlabelled", *words)


@pytest.mark.parametrize("words", [("--standardise",), ("--impute",), ("--categorical", "code")])
def test_a_libsvm_file_holds_no_steps(words, patients, run):
    status, _, err = run(
        "train", "patients.csv", "--ignore", "city", *words, "--save", "m", "--save-as", "libsvm"
    )
    assert status == 2 and "LIBSVM" in err and not (patients / "m").exists()


@pytest.mark.parametrize("content", [b"", b"{}", b"PK\x03\x04", b"svm_type c_svc\n"])
def test_what_is_no_model_is_named(content, file, run):
    status, _, err = run("predict", file(content, "m.skops"), file("1,2\n"))
    assert status == 2 and "m.skops" in err and err.count("\n") == 1
