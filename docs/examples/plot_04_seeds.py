"""
4. Seeds for cross-validation
=============================

The fits of a cross-validation resemble each other: five ways to start one at the solution of another.
"""

# %%
# `cross_validate` shares one Gram matrix among all folds. Its seeds change the variables of the points that
# leave and enter the training set; whatever the start, the classifiers found are the same.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from svmselect import RBF, Gram, cross_validate, stratified_folds

X, labels = load_breast_cancer(return_X_y=True)
y = 2 * labels - 1
scaler = StandardScaler().fit(X)
gram = Gram(scaler.transform(X), RBF(0.02)).compute()
seeds = ("cold", "sir", "mir", "ato", "avg", "top")
numbers = (5, 10, 50)
iterations = np.empty((len(seeds), len(numbers)))
for j, k in enumerate(numbers):
    folds = stratified_folds(y, k)
    errors = set()
    for i, seeding in enumerate(seeds):
        run = cross_validate(gram, y, 10, folds, seeding)
        iterations[i, j] = run.n_iter
        errors.add(np.count_nonzero(run.errors))
    print(f"k = {k}: {errors.pop()} errors with every seed")
    assert not errors

# %%
# The more folds, the more training sets have in common, and the more a seed saves. Finding it costs time
# too, though: on a Gram matrix in memory, iterations are cheap, and unless it is told otherwise
# `cross_validate` starts from zero up to 20 folds. Beyond, it needs no seed: it unlearns the folds.

figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
width = 0.8 / len(seeds)
for i, seeding in enumerate(seeds):
    place = np.arange(len(numbers)) + (i - (len(seeds) - 1) / 2) * width
    color = "0.7" if seeding == "cold" else f"C{i - 1}"
    axes.bar(place, iterations[i] / iterations[0], width, color=color, label=seeding.upper())
axes.set(ylabel="iterations, relative to a cold start")
axes.set_xticks(np.arange(len(numbers)), [f"{k} folds" for k in numbers])
figure.legend(loc="outside upper center", ncols=6, fontsize=8)
plt.show()
