"""A program for an installed wheel: leave-one-out errors by unlearning are those of training anew."""

import platform

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from svmselect import RBF, Gram, leave_one_out
from svmselect.sklearn import SVC

X, labels = load_breast_cancer(return_X_y=True)
X, y = StandardScaler().fit_transform(X)[:150], np.where(labels[:150] > 0, 1.0, -1.0)
model = SVC(C=2.0, gamma=0.05)
remaining = [np.delete(np.arange(len(y)), i) for i in range(len(y))]
anew = np.array([model.fit(X[rest], y[rest]).predict(X[[i]])[0] for i, rest in enumerate(remaining)])
for dtype in ("float32", "float64"):
    gram = Gram(X, RBF(0.05), dtype=dtype)
    errors = leave_one_out(gram, y, 2.0).errors
    print(platform.platform(), dtype, f"{np.sum(errors)} errors")
    np.testing.assert_array_equal(errors, anew != y)
