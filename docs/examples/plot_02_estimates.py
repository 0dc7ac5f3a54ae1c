"""
2. Estimates from one fit
=========================

What a single fit tells of the leave-one-out error: the span rule follows it closely, bounds lie above it.
"""

# %%
# Every attribute is computed when it is asked for; `loo_error_` is the exact error.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from svmselect.sklearn import SVC

X, y = make_moons(300, noise=0.35, random_state=0)
X_new, y_new = make_moons(20_000, noise=0.35, random_state=1)

gammas = np.geomspace(0.01, 100, 25)
names = {
    "loo_error_": "leave-one-out",
    "span_estimate_": "span rule",
    "xi_alpha_bound_": "xi-alpha bound",
    "sv_count_bound_": "share of support vectors",
}
curves = {name: [] for name in names}
test_error = []
for gamma in gammas:
    classifier = SVC(C=10, gamma=gamma).fit(X, y)
    for name, curve in curves.items():
        curve.append(100 * getattr(classifier, name))
    test_error.append(100 * (1 - classifier.score(X_new, y_new)))

# %%
# The error on 20,000 new points is what all of them are after.

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
axes.plot(gammas, test_error, color="0.7", linewidth=6, label="20,000 new points")
for (name, label), style in zip(names.items(), ("k-", "C1--", "C0:", "C2-."), strict=True):
    axes.plot(gammas, curves[name], style, label=label)
axes.set(xscale="log", xlabel="gamma", ylabel="error, %", ylim=(0, 100))
axes.legend(loc="upper left")
plt.show()
