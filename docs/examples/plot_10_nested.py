"""
10. The error of the best of many models
========================================

The least of many errors flatters its model. How much, and how nested folds avoid it.
"""

# %%
# Labels that are coin flips: no model can have an error below one half. Three folds choose one of 36 models,
# on 80 rows, for forty data sets. ``cross_val_score`` repeats the whole search in each of four outer folds,
# so that each row is predicted by a model in whose choice it had no part. The best of equally bad models is
# often at the end of a list, and the search would warn.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from svmselect.sklearn import SVC, EndOfListWarning, SeededCV

warnings.simplefilter("ignore", EndOfListWarning)
rng = np.random.default_rng(4)
grid = {"C": [0.1, 1, 10, 100, 1000, 10000], "gamma": np.logspace(-3, 2, 6)}
search = SeededCV(SVC(), grid)
least, honest = [], []
for _ in range(40):
    X, y = rng.normal(size=(80, 3)), rng.permutation(np.arange(80) % 2)
    least.append(100 * (1 - search.fit(X, y).best_score_))
    honest.append(100 * (1 - cross_val_score(search, X, y, cv=4).mean()))
print(f"best of 36 models: {np.mean(least):.1f} %; nested: {np.mean(honest):.1f} %; the truth: 50 %")

# %%
# The least error of 3 folds lies below one half for all data sets, and the nested error around it.

figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
bins = np.arange(25, 75, 2.5)
ax.hist(least, bins, alpha=0.7, label="least 3-fold error")
ax.hist(honest, bins, alpha=0.7, hatch="//", label="nested error")
ax.axvline(50, color="0.3", linestyle="--", label="the truth")
ax.set(xlabel="error, %", ylabel="data sets")
ax.legend()
plt.show()
