"""
1. Select a model by its leave-one-out error
============================================

A search over C and gamma, with the exact leave-one-out error of every model.
"""

# %%
# The search stands where scikit-learn's ``GridSearchCV`` does: here behind a scaler, in a pipeline.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect.sklearn import LOOSearchCV

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), LOOSearchCV()).fit(X, y)
search = pipeline[-1]
print(f"best of {len(search.cv_results_['params'])} models: {search.best_params_}")
print(f"leave-one-out error {100 * search.loo_error_:.2f} %, found in {search.search_time_:.1f} s")

# %%
# scikit-learn would train 64 times 569 classifiers for this map. Large C and gamma fit the rows too closely, small
# ones not closely enough.

C = np.unique(search.cv_results_["param_C"])
gamma = np.unique(search.cv_results_["param_gamma"])
# scikit-learn's order of a grid: gamma changes fastest
error = 100 * (1 - search.cv_results_["mean_test_score"].reshape(C.size, gamma.size))

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
image = axes.pcolormesh(gamma, C, error, cmap="viridis_r", vmax=12, shading="nearest")
axes.plot(search.best_params_["gamma"], search.best_params_["C"], "*", color="tab:red", markersize=16)
axes.set(xscale="log", yscale="log", xlabel="gamma", ylabel="C")
for c, row in zip(C, error, strict=True):
    for g, value in zip(gamma, row, strict=True):
        if (c, g) != (search.best_params_["C"], search.best_params_["gamma"]):
            color = "white" if value > 6 else "black"
            axes.text(g, c, f"{value:.1f}", ha="center", va="center", fontsize=7, color=color)
figure.colorbar(image, label="leave-one-out error, %", extend="max")
plt.show()
