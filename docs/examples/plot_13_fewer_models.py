"""
13. Fewer models, fewer rows
============================

Random draws, halving and early stops: which models are judged, and how many rows each of them gets.
"""

# %%
# The same 49 models by two searches. Halving judges all of them on few rows and the best on more. An early
# stop gives a model up as soon as it cannot win.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect.sklearn import SVC, LOOSearchCV

X, y = load_breast_cancer(return_X_y=True)
X, y = X[::2], y[::2]
model = make_pipeline(StandardScaler(), SVC())
grid = {"svc__C": np.logspace(-2, 4, 7), "svc__gamma": np.logspace(-5, 1, 7)}
halving = LOOSearchCV(model, grid, factor=2, random_state=0).fit(X, y)
early = LOOSearchCV(model, grid, stop_early=True).fit(X, y)
for name, search in (("halving", halving), ("early stops", early)):
    best = search.best_params_
    print(f"{name}: C = {best['svc__C']:g}, gamma = {best['svc__gamma']:g}, {100 * search.loo_error_:.2f} %")

# %%
# Each model is a cell: on the left coloured by the rows it was judged on at last, on the right crossed out
# where it was given up. The star is the chosen model.

shape = len(grid["svc__C"]), len(grid["svc__gamma"])
at = {(C, gamma): 0 for C in grid["svc__C"] for gamma in grid["svc__gamma"]}
for model, n in zip(halving.cv_results_["params"], halving.cv_results_["n_resources"], strict=True):
    at[model["svc__C"], model["svc__gamma"]] = n
error = 100 * (1 - early.cv_results_["mean_test_score"].astype(float).reshape(shape))
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, search, values, label in (
    (axes[0], halving, np.array(list(at.values())).reshape(shape), "halving: rows"),
    (axes[1], early, error, "early stops: leave-one-out error, %"),
):
    figure.colorbar(ax.imshow(values, origin="lower", cmap="cividis"), ax=ax, label=label)
    best = [list(grid[name]).index(search.best_params_[name]) for name in ("svc__gamma", "svc__C")]
    ax.plot(*best, "*", markersize=12, color="tab:red")
    ax.set_xticks(range(shape[1]), [f"{gamma:g}" for gamma in grid["svc__gamma"]], rotation=45)
    ax.set_xlabel("gamma")
axes[1].plot(*np.nonzero(early.cv_results_["stopped"].reshape(shape))[::-1], "x", color="0.5")
axes[0].set_yticks(range(shape[0]), [f"{C:g}" for C in grid["svc__C"]])
axes[0].set_ylabel("C")
plt.show()
