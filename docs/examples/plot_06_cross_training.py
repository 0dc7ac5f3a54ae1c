"""
6. Fewer support vectors by cross-training
==========================================

Where classes overlap, an SVM has more support vectors the more rows it is given. Cross-training has few.
"""

# %%
# `CrossTrainingSVC` trains SVMs on subsets, drops the rows that these misclassify or recognise with
# confidence, and trains on the rest.

import matplotlib.pyplot as plt
import numpy as np

from svmselect.sklearn import SVC, CrossTrainingSVC


def overlapping(m, seed):
    """Two Gaussian classes in two dimensions."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], m // 2)
    return rng.normal(size=(m, 2)) + np.where(y[:, None] == 1, 0.75, -0.75), y


X_new, y_new = overlapping(20_000, seed=1)
sizes = (300, 600, 1200, 2400, 4800)
found = {"SVM": [], "cross-training": []}
for m in sizes:
    X, y = overlapping(m, seed=0)
    svm = SVC(C=1, gamma=0.5).fit(X, y)
    found["SVM"].append((svm.support_.size, 100 * (1 - svm.score(X_new, y_new))))
    cross = CrossTrainingSVC(C=1, gamma=0.5, tune_threshold=True, random_state=0).fit(X, y)
    found["cross-training"].append((cross.classifier_.n_sv, 100 * (1 - cross.score(X_new, y_new))))

# %%
# The classifier is smaller, hence faster, and no worse.

figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.4), layout="constrained")
for (name, values), style in zip(found.items(), ("C0o-", "C1s-"), strict=True):
    n_sv, error = np.transpose(values)
    axes[0].loglog(sizes, n_sv, style, label=name)
    axes[1].semilogx(sizes, error, style, label=name)
axes[0].set(xlabel="training rows", ylabel="support vectors")
axes[1].set(xlabel="training rows", ylabel="error on 20,000 new points, %", ylim=(0, 25))
for part in axes:
    part.set_xticks(sizes, [str(m) for m in sizes])
    part.minorticks_off()
axes[0].legend()
plt.show()
