"""
10. The error of the best of many models
========================================

The least of many errors flatters its model. How much, and how nested folds avoid it.
"""

# %%
# Labels that are coin flips: no model can have an error below one half. Among 36 models, the best is found by
# leave-one-out on 80 rows, for sixteen data sets.

import matplotlib.pyplot as plt
import numpy as np

from svmselect.sklearn import SVC, LOOSearchCV

rng = np.random.default_rng(4)
grid = {"C": [0.1, 1, 10, 100, 1000, 10000], "gamma": np.logspace(-3, 2, 6)}
least, honest = [], []
for _ in range(16):
    X, y = rng.normal(size=(80, 3)), rng.permutation(np.arange(80) % 2)
    least.append(100 * LOOSearchCV(SVC(), grid).fit(X, y).loo_error_)
    wrong = 0
    for fold in np.array_split(rng.permutation(80), 4):
        rest = np.setdiff1d(np.arange(80), fold)
        inner = LOOSearchCV(SVC(), grid).fit(X[rest], y[rest])
        wrong += np.count_nonzero(inner.predict(X[fold]) != y[fold])
    honest.append(100 * wrong / 80)
print(f"best of 36 models: {np.mean(least):.1f} %; nested: {np.mean(honest):.1f} %; the truth: 50 %")

# %%
# The search is repeated in every outer fold, so each row is judged by a model in whose choice it had no part.

figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
bins = np.arange(25, 75, 2.5)
ax.hist(least, bins, alpha=0.7, label="least leave-one-out error")
ax.hist(honest, bins, alpha=0.7, hatch="//", label="nested error")
ax.axvline(50, color="0.3", linestyle="--", label="the truth")
ax.set(xlabel="error, %", ylabel="data sets")
ax.legend()
plt.show()
