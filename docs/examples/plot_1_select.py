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
# scikit-learn would train 64 times 569 classifiers for this map. Large C and gamma fit the rows too
# closely, small ones not closely enough.

C = np.unique(search.cv_results_["param_C"])
gamma = np.unique(search.cv_results_["param_gamma"])
# scikit-learn's order of a grid: gamma changes fastest
error = 100 * (1 - search.cv_results_["mean_test_score"].reshape(C.size, gamma.size))

figure, axes = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
image = axes.imshow(error, cmap="viridis_r", vmax=12, origin="lower", aspect="auto")
best = np.unravel_index(search.best_index_, error.shape)
for (i, j), value in np.ndenumerate(error):
    weight = "bold" if (i, j) == best else "normal"
    color = "white" if value > 6 else "black"
    axes.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=8, weight=weight, color=color)
axes.plot(best[1], best[0], "s", markersize=28, fillstyle="none", color="tab:red", markeredgewidth=2)
axes.set_xticks(range(gamma.size), [f"{value:.1g}" for value in gamma])
axes.set_yticks(range(C.size), [f"{value:.4g}" for value in C])
axes.set(xlabel="gamma", ylabel="C")
figure.colorbar(image, label="leave-one-out error, %", extend="max")
plt.show()
