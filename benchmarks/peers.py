"""The libraries that are compared: one class each, which trains a C-SVC and hands over its alphas.

A peer is made for one problem, kernel, C and tolerance; making it imports the library and converts the rows
to what the library takes, which is not timed. ``fit(clock)`` trains inside ``with clock``. ``result()`` reads
the model.
"""

from __future__ import annotations

import re
from importlib import metadata
from typing import NamedTuple

import numpy as np
from scipy import sparse

from svmselect import Gram, Linear, solve_csvc

__all__ = ["PEERS", "Model", "version_of"]


class Model(NamedTuple):
    """What a peer learned: alphas, shape (m,); threshold; iterations, None where the library is silent."""

    alpha: np.ndarray
    b: float
    n_iter: int | None


class Peer:
    """A library at work on one problem.

    Parameters
    ----------
    X : ndarray or csr_matrix, shape (m, d)
    y : ndarray, shape (m,)
        -1.0 and +1.0.
    kernel : RBF or Linear
    C, tol : float
    threads : int
    memory_mb : int
        Budget for kernel values.
    """

    name: str
    distribution: str  # the package that installs it

    def __init__(self, X, y, kernel, C, tol, threads, memory_mb):
        self.X, self.y, self.kernel, self.C, self.tol = X, y, kernel, C, tol
        self.threads, self.memory_mb = threads, memory_mb
        self.gamma = getattr(kernel, "gamma", 1.0)  # a linear kernel has none and no use for it
        self.open()

    def open(self):
        """Import the library and convert the rows."""

    def fit(self, clock):
        """Train; `clock` is a context manager to hold around that alone."""
        raise NotImplementedError

    def result(self) -> Model:
        """The trained model."""
        raise NotImplementedError


class Svmselect(Peer):
    """This project: float32 kernel values for RBF, float64 for the linear kernel."""

    name = "svmselect"
    distribution = "svmselect"

    def fit(self, clock):
        dtype = "float64" if isinstance(self.kernel, Linear) else "float32"
        with clock:
            gram = Gram(self.X, self.kernel, dtype=dtype, memory_mb=self.memory_mb)
            self.solution = solve_csvc(gram, self.y, self.C, tol=self.tol)

    def result(self):
        return Model(self.solution.alpha, self.solution.b, self.solution.n_iter)


class Libsvm(Peer):
    """LIBSVM by its own Python interface; rows are sparse there whatever they were."""

    name = "LIBSVM"
    distribution = "libsvm-official"

    def open(self):
        from libsvm import svm, svmutil

        self.train = svmutil.svm_train
        # LIBSVM tells its iterations on its log only
        self.log = []
        self.print_func = svm.PRINT_STRING_FUN(self.log.append)
        self.problem = svm.svm_problem(self.y, sparse.csr_matrix(self.X))
        kind = 0 if isinstance(self.kernel, Linear) else 2
        self.parameter = svm.svm_parameter(
            f"-s 0 -t {kind} -g {self.gamma!r} -c {self.C!r} -e {self.tol!r} -m {self.memory_mb}"
        )
        self.parameter.print_func = self.print_func

    def fit(self, clock):
        with clock:
            self.model = self.train(self.problem, self.parameter)

    def result(self):
        first = self.model.get_labels()[0]  # the class on the positive side
        coefficients = np.array(self.model.get_sv_coef()).reshape(-1)
        alpha = np.zeros(self.y.size)
        alpha[np.array(self.model.get_sv_indices(), dtype=np.intp) - 1] = np.abs(coefficients)
        n_iter = re.search(rb"#iter = (\d+)", b"".join(self.log))
        return Model(alpha, -first * self.model.rho[0], int(n_iter[1]))


class ScikitLearn(Peer):
    """scikit-learn's SVC: LIBSVM's algorithm, dense rows dense."""

    name = "scikit-learn"
    distribution = "scikit-learn"

    def open(self):
        from sklearn.svm import SVC

        self.model = self.make(SVC)

    def make(self, svc):
        return svc(
            C=self.C, kernel=self.kernel.name, gamma=self.gamma, tol=self.tol, cache_size=self.memory_mb
        )

    def fit(self, clock):
        with clock:
            self.model.fit(self.X, self.y)

    def result(self):
        coefficients = self.model.dual_coef_
        if sparse.issparse(coefficients):
            coefficients = coefficients.toarray()
        alpha = np.zeros(self.y.size)
        alpha[self.model.support_] = np.abs(coefficients.reshape(-1))
        return Model(alpha, float(self.model.intercept_[0]), int(np.max(self.model.n_iter_)))


class ScikitLearnIntelex(ScikitLearn):
    """oneDAL's solver by scikit-learn-intelex; its iterations are outer rounds."""

    name = "scikit-learn-intelex"
    distribution = "scikit-learn-intelex"

    def open(self):
        import daal4py
        from sklearnex.svm import SVC

        daal4py.daalinit(self.threads)
        self.model = self.make(SVC)

    def result(self):
        # it hands what it does not support to scikit-learn without a word
        if not hasattr(self.model, "_onedal_estimator"):
            raise RuntimeError("scikit-learn-intelex fell back to scikit-learn")
        return super().result()


class ScikitLearnIntelexSingle(ScikitLearnIntelex):
    """The same with rows of float32, and kernel values as ours."""

    name = "scikit-learn-intelex float32"

    def open(self):
        self.X = self.X.astype(np.float32)
        super().open()


class ThunderSVM(Peer):
    """ThunderSVM on the CPU; the clock is around the library's call, not the loops that copy its model."""

    name = "ThunderSVM"
    distribution = "thundersvm-cpu"

    def open(self):
        from thundersvm import SVC

        class TimedSVC(SVC):
            def _dense_fit(self, *arguments):
                with self.clock:
                    super()._dense_fit(*arguments)

            def _sparse_fit(self, X, y, *arguments):
                # the wrapper of 0.3.3 passes labels as int32 to a function that takes float32
                y = np.asarray(y, dtype=np.float32).view(np.int32)
                with self.clock:
                    super()._sparse_fit(X, y, *arguments)

        self.model = TimedSVC(
            C=self.C,
            kernel=self.kernel.name,
            gamma=self.gamma,
            tol=self.tol,
            n_jobs=self.threads,
            max_mem_size=self.memory_mb,
        )

    def fit(self, clock):
        self.model.clock = clock
        self.model.fit(self.X, self.y)

    def result(self):
        alpha = np.zeros(self.y.size)
        alpha[self.model.support_] = np.abs(self.model.dual_coef_.reshape(-1))
        # the class of the first row is the positive one, and its intercept is subtracted
        return Model(alpha, float(-self.y[0] * self.model.intercept_[0]), None)


COMPARED = (Svmselect, Libsvm, ScikitLearn, ScikitLearnIntelex, ScikitLearnIntelexSingle, ThunderSVM)
PEERS = {peer.name: peer for peer in COMPARED}


def version_of(peer):
    """Version of a peer's package, or None where it is not installed."""
    try:
        return metadata.version(PEERS[peer].distribution)
    except metadata.PackageNotFoundError:
        return None
