"""From a file to a saved model, its predictions, and a page about it."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from browser import chromium
from estimators.problems import blobs
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

import svmselect.sklearn
from svmselect.cli.read import read
from svmselect.sklearn import SVC, load_model, save_model

CITIES = np.array(["Oslo", "São Paulo", "Rome, Italy"])


@pytest.fixture
def mixed(file):
    """Rows of numbers and words, some of them missing, with labels and without."""
    rng = np.random.default_rng(3)
    X, y = blobs(1, m=80, k=2)
    rows = []
    for n, (row, label) in enumerate(zip(X.tolist(), np.array(["ill", "well"])[y], strict=True)):
        cells = [*map(repr, row), f'"{CITIES[rng.integers(3)]}"', label]
        if n % 9 == 4:
            cells[rng.integers(4)] = ""
        rows.append(",".join(cells))
    head = "x,größe,z,city,state"
    file("\n".join([head, *rows[:60], ""]), "train.csv")
    file("\n".join([head, *rows[60:], ""]), "test.csv")
    file("\n".join([row.rpartition(",")[0] for row in [head, *rows[60:], ""]]), "new.csv")


OPTIONS = ("--impute", "--standardise", "--categorical", "city")


def test_train_and_predict(mixed, run, tmp_path):
    status, out, err = run(
        "train", "train.csv", "--save", "m.json", *OPTIONS, "--C", 3, "--gamma", 0.2, "--json"
    )
    assert (status, err) == (0, "")
    said = json.loads(out)
    table = read("train.csv", categorical=["city"], impute=True, standardise=True)
    model = SVC(3, gamma=0.2).fit(table.X, table.labels)
    assert (said["rows"], said["features"], said["support_vectors"]) == (60, 6, model.support_.size)
    assert (
        said["training_error"] == np.mean(model.predict(table.X) != table.labels)
        and said["model"] == "m.json"
    )
    np.testing.assert_array_equal(
        load_model("m.json").decision_function(table.X), model.decision_function(table.X)
    )

    status, out, err = run("predict", "m.json", "train.csv")
    *predicted, last = out.splitlines()
    wrong = int(np.sum(model.predict(table.X) != table.labels))
    assert (status, err, predicted) == (0, "", model.predict(table.X).tolist())
    assert last == f"error {100 * wrong / 60:.2f} % ({wrong} of 60 rows)"

    labelled = run("predict", "m.json", "test.csv")[1].splitlines()
    assert len(labelled) == 21 and re.fullmatch(r"error \d+\.\d\d % \(\d+ of 20 rows\)", labelled[-1])
    status, out, err = run("predict", "m.json", "new.csv")
    assert (status, err) == (0, "") and out.splitlines() == labelled[:-1]


def test_predictions_as_a_file_and_as_json(mixed, run, tmp_path):
    run("train", "train.csv", "--save", "m.json", *OPTIONS)
    lines = run("predict", "m.json", "test.csv", "--decision-values")[1].splitlines()
    rows = list(csv.reader(lines[:-1]))
    assert all((float(value) >= 0) == (label == "well") for label, value in rows)
    status, out, _ = run("predict", "m.json", "test.csv", "--output", "out.csv", "--decision-values")
    assert status == 0 and out.splitlines() == ["20 rows predicted: out.csv", lines[-1]]
    written = list(csv.reader(io.StringIO((tmp_path / "out.csv").read_text())))
    assert written == [["predicted", "decision value"], *rows]
    said = json.loads(run("predict", "m.json", "test.csv", "--decision-values", "--json")[1])
    assert said["predictions"] == [label for label, _ in rows]
    assert [repr(value) for value in said["decision_values"]] == [value for _, value in rows]
    assert (
        lines[-1] == f"error {100 * said['error']:.2f} % ({said['errors']} of {said['rows_with_label']} rows)"
    )


def test_standard_input(mixed, run, monkeypatch):
    run("train", "train.csv", "--save", "m.json", *OPTIONS)
    expected = run("predict", "m.json", "test.csv")
    with open("test.csv") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert run("predict", "m.json", "-") == expected


def test_three_classes_have_three_decision_values(run, tmp_path):
    X, y = blobs(2, m=45, k=3)
    np.savetxt("rows.csv", np.column_stack([X, y]), delimiter=",")
    run("train", "rows.csv", "--save", "m.json")
    run("predict", "m.json", "rows.csv", "--decision-values", "--output", "out.csv")
    header, *rows = csv.reader(io.StringIO((tmp_path / "out.csv").read_text()))
    assert header == ["predicted", *(f"decision value of {k}" for k in range(3))]
    model = SVC().fit(np.loadtxt("rows.csv", delimiter=",")[:, :3], y)
    np.testing.assert_array_equal(np.array(rows, dtype=float)[:, 1:], model.decision_function(X))


@pytest.mark.parametrize(
    ("labels", "status", "last", "remark"),
    [
        (["1", "-1", "1"], 0, "error 33.33 % (1 of 3 rows)", ""),
        (["+1", "-1.0", "1"], 0, "error 33.33 % (1 of 3 rows)", ""),
        (
            ["1", "", ""],
            0,
            "error 0.00 % (0 of 1 rows)",
            "2 rows have no label: the error is that of the others",
        ),
        (["", "", ""], 0, "1", ""),
        (
            ["1", "2", "1"],
            0,
            "error 33.33 % (1 of 3 rows)",
            "1 row has a label that is no class of the model",
        ),
        (["yes", "no", "yes"], 2, None, "no label, such as 'no', is a class of the model (-1, 1)"),
        (["yes", "yes", "yes"], 2, None, "no label, such as 'yes', is a class of the model (-1, 1)"),
    ],
)
def test_labels_of_new_rows(file, run, labels, status, last, remark):
    train = file("".join(f"{n % 7 + 10 * (n % 2)},{n % 2 * 2 - 1}\n" for n in range(20)), "train.csv")
    run("train", train, "--save", "m.json", "--no-header")
    new = file("".join(f"{v},{label}\n" for v, label in zip((12, 13, 14), labels, strict=True)))
    result, out, err = run("predict", "m.json", new, "--no-header")
    assert result == status and remark in err and bool(err) == bool(remark)
    if last is not None:
        assert out.splitlines()[-1] == last and out.splitlines()[:3] == ["1"] * 3
    assert run("predict", "m.json", new, "--no-header", "--strict")[0] == (2 if remark else 0)


def libsvm_file(path, X, y):
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return path


@pytest.mark.parametrize("save_as", ["json", "libsvm"])
def test_libsvm_text(run, tmp_path, save_as):
    X, y = blobs(5, m=60, k=2)
    X = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    train, test = (
        libsvm_file(tmp_path / n, X[r], 2 * y[r] - 1) for n, r in (("a", range(40)), ("b", range(40, 60)))
    )
    status, _, err = run("train", train, "--save", "model", "--save-as", save_as, "--gamma", 0.4)
    assert (status, err) == (0, "")
    status, out, err = run("predict", "model", test)
    expected = SVC(gamma=0.4).fit(X[:40], 2 * y[:40] - 1).predict(X[40:])
    assert (status, err, out.splitlines()[:-1]) == (0, "", [str(label) for label in expected])
    # a file without labels has the same one everywhere; the last features of a file may be zero
    unlabelled = tmp_path / "c"
    unlabelled.write_text("0 1:1\n0 2:1\n")
    status, out, err = run("predict", "model", unlabelled)
    assert status == 0 and len(out.splitlines()) == 2 and "every label is 0, which is no class" in err
    if save_as == "libsvm" and shutil.which("svm-predict"):
        for rows in (test, unlabelled):
            subprocess.run(["svm-predict", rows, "model", "out"], check=True, capture_output=True)
            said = [line for line in run("predict", "model", rows)[1].splitlines() if "error" not in line]
            assert said == (tmp_path / "out").read_text().split()


def test_a_model_of_libsvm_takes_a_table(run, tmp_path):
    X, y = blobs(5, m=40, k=2)
    train = libsvm_file(tmp_path / "a", X, y)
    run("train", train, "--save", "model", "--save-as", "libsvm")
    np.savetxt("rows.csv", np.column_stack([X, y]), delimiter=",")
    np.savetxt("new.csv", X, delimiter=",")
    expected = run("predict", "model", train)[1]
    assert run("predict", "model", "rows.csv") == (0, expected, "")
    assert run("predict", "model", "new.csv")[1].splitlines() == expected.splitlines()[:-1]


def test_a_model_of_the_library_takes_a_table(run, tmp_path):
    X, y = blobs(5, m=40, k=2)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = SVC().fit(frame, y)
    save_model(model, "model")
    frame[["c", "a", "b"]].assign(d=1, y=y).to_csv("rows.csv", index=False)
    status, out, err = run("predict", "model", "rows.csv", "--label", "y")
    assert (status, err, out.splitlines()[:-1]) == (0, "", [str(label) for label in model.predict(frame)])
    save_model(SVC(kernel="precomputed").fit(X @ X.T, y), "model")
    status, _, err = run("predict", "model", "rows.csv")
    assert status == 2 and "takes kernel values, and no rows of a file" in err


def test_what_libsvms_format_cannot_hold(mixed, run, tmp_path):
    for options in (OPTIONS, ("--drop-missing", "--ignore", "city", "--standardise")):
        for command in ("train", "select"):
            status, out, err = run(command, "train.csv", "--save", "m", "--save-as", "libsvm", *options)
            assert (status, out) == (2, "") and "save the model as json, or encode the file itself" in err
    words = ("train", "train.csv", "--save", "m", "--save-as", "libsvm", "--drop-missing", "--ignore", "city")
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert "LIBSVM's model file cannot hold the label 'ill': save the model as" in err
    assert not (tmp_path / "m").exists()


def test_a_model_that_cannot_be_written(mixed, run, tmp_path):
    status, out, err = run("train", "train.csv", "--save", tmp_path, *OPTIONS)
    assert (status, out) == (2, "") and err.count("\n") == 1
    status, out, err = run("predict", "nothing.json", "test.csv")
    assert (status, out, err) == (2, "", "svmselect: error: nothing.json: there is no such file\n")
    status, out, err = run("predict", "test.csv", "test.csv")
    assert (status, out) == (2, "") and "test.csv: neither a model of svmselect nor one of LIBSVM" in err


def test_select_saves_the_chosen_model(mixed, run, searched):
    grid = ("--C", "0.5,5", "--gamma", "0.05,0.5")
    said = json.loads(run("select", "train.csv", "--save", "m.json", *OPTIONS, *grid, "--json")[1])
    table = read("train.csv", categorical=["city"], impute=True, standardise=True)
    search = searched(table.X, table.labels, {"C": [0.5, 5], "gamma": [0.05, 0.5]})
    loaded = load_model("m.json")
    assert (
        {"C": loaded.C, "gamma": loaded.gamma} == search.best_params_ == {k: said[k] for k in ("C", "gamma")}
    )
    np.testing.assert_array_equal(loaded.decision_function(table.X), search.decision_function(table.X))


def test_ties_are_announced(run, tmp_path):
    (tmp_path / "rows.csv").write_text("".join(f"{n % 7 + 50 * (n % 2)},{n % 2}\n" for n in range(20)))
    words = ("select", "rows.csv", "--C", "1,10,100", "--gamma", "0.01")
    assert json.loads(run(*words, "--json")[1])["tied"] == 3
    assert "3 models tie for the best 3-fold error; the first of the grid is chosen" in run(*words)[1]
    assert "tie" not in run("select", "rows.csv", "--C", "1", "--gamma", "0.01")[1]


def test_the_error_of_the_whole_selection(mixed, run, searched):
    """As a search within each fold, on rows that were scaled without it."""
    X, y = blobs(9, m=60, k=2)
    X = X * [1, 10, 100]
    np.savetxt("rows.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
    grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}
    words = ("select", "rows.csv", "--standardise", "--C", "0.1,1,10", "--gamma", "0.01,0.1,1", "--outer", 5)
    said = json.loads(run(*words, "--json")[1])
    expected = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        scaler.scale_ = X[train].std(axis=0, ddof=1)
        search = searched(scaler.transform(X[train]), y[train], grid)
        expected.append(int(np.sum(search.predict(scaler.transform(X[test])) != y[test])))
    assert said["outer_errors"] == expected and said["outer_error"] == sum(expected) / 60
    out = run(*words)[1]
    assert (
        f"error of the whole selection {100 * sum(expected) / 60:.2f} % ({sum(expected)} of 60 rows, in 5"
        in out
    )
    assert "the best 3-fold error of 9 models, is optimistic" in out
    status, _, err = run("select", "train.csv", *OPTIONS, "--outer", 31)
    assert status == 2 and "--outer must be from 2 to the" in err
    assert run("select", "train.csv", *OPTIONS, "--outer", 3, "--C", "1", "--by", "loo")[0] == 0


def test_the_error_of_the_whole_selection_of_libsvm_text(run, tmp_path):
    X, y = blobs(5, m=40, k=2)
    libsvm_file(tmp_path / "a", X, y)
    np.savetxt("a.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
    one, other = (
        json.loads(run("select", f, "--outer", 3, "--C", "1,9", "--json")[1]) for f in ("a", "a.csv")
    )
    assert one["outer_errors"] == other["outer_errors"]


class Page(HTMLParser):
    """Tags that are open, and whatever names another file."""

    VOID = ("meta", "br", "link", "img")

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.links, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.links += [
            v for k, v in attributes if k in ("src", "href", "xlink:href") and not v.startswith("#")
        ]
        if tag not in self.VOID and tag not in ("th", "td", "tr", "li", "p"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("th", "td", "tr", "li", "p"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    "words",
    [("select", "--by", "loo", "--C", "0.5,5"), ("select", "--by", "loo", "--kernel", "linear"), ("loo",)],
    ids=str,
)
def test_a_page_is_complete_and_needs_nothing_else(mixed, run, tmp_path, words):
    pytest.importorskip("matplotlib")
    command = (words[0], "train.csv", *OPTIONS, *words[1:], "--report", "page.html")
    status, _, err = run(*command)
    assert (status, err) == (0, "")
    text = (tmp_path / "page.html").read_text()
    page = Page(text)
    assert page.open == [] and page.links == [] and "script" not in page.seen
    assert "svg" in page.seen and page.seen.count("html") == 1
    assert f"svmselect {' '.join(command)} --quiet" in page.text and "scikit-learn" in page.text
    model = load_model_of(run, words, tmp_path)
    table = read("train.csv", categorical=["city"], impute=True, standardise=True)
    model = model.fit(table.X, table.labels)
    wrong = np.flatnonzero(model.loo_predictions_ != table.labels)
    assert (
        f"{wrong.size} of 60 rows are misclassified by the classifier that is trained without them"
        in page.text
    )
    margins = model.loo_decision_ * np.where(table.labels == "well", 1, -1)
    cells = (
        r'<tr><td class="number">(\d+)</td><td>(ill|well)</td><td>(?:ill|well)</td><td class="number">(.*?)<'
    )
    listed = [(int(n), label, margin) for n, label, margin in re.findall(cells, text)]
    worst = wrong[np.argsort(margins[wrong])]
    assert listed == [(n + 1, table.labels[n], f"{margins[n]:.6g}") for n in worst]
    assert text.count("<svg") == 2 - (words[0] == "loo")
    assert f"Rows by their leave-one-out margin; {wrong.size} are misclassified." in text
    ids = re.findall(r'\bid="(.*?)"', text)
    assert len(ids) == len({*ids})
    # the same again, byte for byte
    run(*command)
    assert (tmp_path / "page.html").read_text() == text


def load_model_of(run, words, folder):
    """The model of a command, which is trained and saved by another."""
    command = "train" if words[0] == "loo" else "select"
    run(command, "train.csv", *OPTIONS, *words[1:], "--save", "again.json")
    return svmselect.sklearn.SVC(**load_model(folder / "again.json").get_params())


@pytest.mark.parametrize("name", ["surface.pdf", "surface.svg", "surface.PNG"])
def test_the_errors_as_a_figure(mixed, run, tmp_path, name):
    pytest.importorskip("matplotlib")
    words = ("select", "train.csv", *OPTIONS, "--C", "1,2", "--gamma", "0.1,1")
    assert run(*words, "--plot", name)[0] == 0
    start = {".pdf": b"%PDF", ".svg": b"<?xml", ".PNG": b"\x89PNG"}[name[-4:]]
    assert (tmp_path / name).read_bytes().startswith(start)
    status, out, err = run(*words, "--plot", "surface.jpg")
    assert (status, out) == (2, "")
    assert "--plot takes a file that ends in .pdf, .svg, .png, got 'surface.jpg'" in err


@pytest.mark.parametrize(
    "grid", [{"C": [1, 10], "gamma": [0.05, 2]}, {"C": [1e-3, 2e-3], "gamma": [1e-5, 2e-5]}]
)
def test_the_figure_shows_each_error_in_its_place(searched, grid):
    """Those of the second grid are all the same."""
    pytest.importorskip("matplotlib")
    from svmselect.cli.page import as_svg, surface

    search = searched(*blobs(3, m=60, k=2), grid, refit=False)
    figure = surface(search)
    axes = figure.axes[0]
    errors = 100 * (1 - search.cv_results_["mean_test_score"]).reshape(2, 2).T  # gamma varies fastest
    np.testing.assert_allclose(axes.images[0].get_array(), errors)
    assert (np.ptp(errors) == 0) == (grid["C"][0] < 1)
    for labels, values in ((axes.get_xticklabels(), grid["C"]), (axes.get_yticklabels(), grid["gamma"])):
        plain = [
            re.sub(r"(?:(\d) .cdot )?10\^{(-\d)}", r"\1e\2", label.get_text().strip("$")) for label in labels
        ]
        assert [float(text if text[0] != "e" else f"1{text}") for text in plain] == values
    assert [text.get_text() for text in axes.texts] == [f"{error:.3g}" for error in errors.ravel()]
    gamma, C = np.unravel_index(errors.T.argmin(), (2, 2))[::-1]
    assert [line.get_xydata().tolist() for line in axes.lines] == [[[C, gamma]]]
    assert as_svg(figure, "a") == as_svg(surface(search), "a")


@pytest.mark.parametrize(
    "words", [("--C", "1", "--gamma", "0.1"), ("--C", "1"), ("--kernel", "linear")], ids=str
)
def test_what_does_not_vary_is_drawn_too(mixed, run, tmp_path, words):
    pytest.importorskip("matplotlib")
    assert run("select", "train.csv", *OPTIONS, *words, "--plot", "curve.svg")[0] == 0
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")


def test_without_matplotlib(mixed, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for command in ("select", "loo"):
        status, out, err = run(command, "train.csv", *OPTIONS, "--report", "page.html")
        assert (status, out) == (2, "") and "--plot and --report need matplotlib" in err


def test_the_histogram_counts_each_row_on_its_side():
    pytest.importorskip("matplotlib")
    from svmselect.cli.models import loo_rows
    from svmselect.cli.page import histogram

    X, y = blobs(4, m=90, k=2)
    model = SVC(0.5, gamma=0.2, threshold="balanced_accuracy").fit(X, y)
    rows = loo_rows(model, y)
    values = model.loo_decision_ - model.threshold_
    np.testing.assert_array_equal(rows.wrong, (values >= 0) != (y == 1))
    np.testing.assert_array_equal(rows.margins, np.where(y == 1, values, -values))
    axes = histogram(rows).axes[0]
    right, wrong = ([bar.get_height() for bar in bars] for bars in axes.containers)
    edges = np.array([bar.get_x() for bar in axes.containers[0]])
    assert sum(right) == np.sum(rows.margins > 0) and sum(wrong) == np.sum(rows.margins < 0) > 0
    assert not np.any(np.array(right)[edges < -1e-9]) and not np.any(np.array(wrong)[edges > -1e-9])


@pytest.mark.parametrize("k", [2, 3])
def test_a_page_by_folds_shows_rows_that_were_held_out(run, tmp_path, k):
    pytest.importorskip("matplotlib")
    X, y = blobs(6, m=72, k=k)
    np.savetxt(tmp_path / "rows.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g")
    words = ("--by", "cv", "--folds", 4, "--C", "1", "--gamma", "0.3", "--report", "page.html")
    assert run("select", "rows.csv", *words)[0] == 0
    text = (tmp_path / "page.html").read_text()
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    predicted = np.empty_like(y)
    for train, test in folds.split(X, y):
        predicted[test] = SVC(1, gamma=0.3).fit(X[train], y[train]).predict(X[test])
    wrong = np.flatnonzero(predicted != y)
    assert (
        f"{wrong.size} of 72 rows are misclassified by the classifier that is trained without their fold"
        in text
    )
    cells = r'<tr><td class="number">(\d+)</td><td>(\d)</td><td>(\d)</td>'
    listed = sorted((int(n) - 1, int(label), int(taken)) for n, label, taken in re.findall(cells, text))
    assert listed == [(n, y[n], predicted[n]) for n in wrong]
    assert "<h2>4-fold margins</h2>" in text and ("less the largest of the other classes" in text) == (k == 3)


@pytest.mark.slow
def test_a_page_fits_a_phone(mixed, run, tmp_path):
    """Chromium lays the page out no wider than the screen."""
    program = chromium()
    if program is None:
        pytest.skip("no Chromium on PATH: the page is not looked at in a browser")
    pytest.importorskip("matplotlib")
    words = ("--threshold", "balanced_accuracy", "--calibration", "sigmoid", "--outer", 2, "--C", "1,2")
    run("select", "train.csv", *OPTIONS, "--balanced", "--by", "loo", *words, "--report", "page.html")
    # a window of Chromium is 500 pixels wide at the least
    measure = (
        "<p id='w'></p><script>document.documentElement.style.width = '390px';"
        "for (const part of document.querySelectorAll('details')) part.open = true;"
        "w.innerText = document.body.scrollWidth</script>"
    )
    (tmp_path / "page.html").write_text((tmp_path / "page.html").read_text() + measure)
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--dump-dom")
    command = [program, *options, str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "leave-one-out error of the chosen model at the threshold" in done.stdout
    match = re.search(r'<p id="w">(\d+)</p>', done.stdout)
    assert match and int(match[1]) <= 390, done.stdout[-300:]
