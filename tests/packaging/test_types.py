"""The types of the library as mypy sees them from outside."""

import re
import subprocess
import sys

PROGRAM = """
import numpy as np
from svmselect import Gram, RBF, leave_one_out, solve_csvc
from svmselect.sklearn import SVC, SVR, LOOSearchCV, OneClassSVM, SearchDisplay, load_model, save_model

X, y = np.zeros((4, 2)), np.array([-1.0, 1, -1, 1])
gram = Gram(X, RBF(0.5) + 2 * RBF(0.1))
model, search = SVC(C=2.0, gamma=0.1), LOOSearchCV(SVC(), {"C": [1.0]})
save_model(model, "model", "libsvm", zero_based=True)
loaded = load_model("model", trusted=["module.function"])
reveal_type(gram)
reveal_type(gram.matrix())
reveal_type(solve_csvc(gram, y, 1.0))
reveal_type(leave_one_out(gram, y, 1.0))
reveal_type(RBF(0.5) * RBF(0.1))
reveal_type(model)
reveal_type(model.C)
reveal_type(model.predict(X))
reveal_type(SVR().predict_interval(X))
reveal_type(OneClassSVM().decision_function(X))
reveal_type(search)
reveal_type(SearchDisplay.from_search(search))
"""
ARRAY = "numpy.ndarray[tuple[Any, ...], numpy.dtype[Any]]"
TYPES = [
    "svmselect.gram.matrix.Gram",
    ARRAY,
    "svmselect.svm.Solution",
    "svmselect.loo.result.LeaveOneOut",
    "svmselect.kernels.kernel.Kernel",
    "svmselect.sklearn.svc.SVC",
    "float",
    ARRAY,
    ARRAY,
    ARRAY,
    "svmselect.sklearn.loo_search.LOOSearchCV",
    "svmselect.sklearn.display.SearchDisplay",
]


def mypy(folder, program):
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / "cache", "program.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_typed_program_is_checked_against_the_library(tmp_path):
    answer = mypy(tmp_path, PROGRAM)
    assert answer.returncode == 0, answer.stdout
    assert re.findall(r'Revealed type is "(.*)"', answer.stdout) == TYPES
    wrong = mypy(tmp_path, "from svmselect.sklearn import SVC, save_model\nsave_model(SVC(), 1, format=2)\n")
    assert re.findall(r"\[([a-z-]+)\]", wrong.stdout) == ["arg-type", "arg-type"]
