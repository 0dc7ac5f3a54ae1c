"""
15. One class without labels
============================

A one-class model needs gamma, and nobody has labels to choose it by. The share of rows that the model of the
other rows rejects says when gamma is too large: then new rows of the same kind are rejected, too.
"""

# %%
# Two crescents, and 5 % of the rows anywhere. For each gamma, the rejected shares of left-out rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from svmselect.sklearn import LOOSearchCV, OneClassSVM

rng = np.random.default_rng(0)
X, _ = make_moons(285, noise=0.1, random_state=0)
X = np.concatenate([X, rng.uniform([-1.5, -1.2], [2.5, 1.7], size=(15, 2))])
nu = 0.1
search = LOOSearchCV(OneClassSVM(nu=nu), {"gamma": 10.0 ** np.linspace(-2, 2.5, 19)}).fit(X)
gamma = search.cv_results_["param_gamma"].astype(float)
rate = search.cv_results_["loo_rejection_rate"]
model = search.best_estimator_
print(f"gamma = {model.gamma:.3g}, left-out rows rejected: {model.loo_rejection_rate_:.3f}")

# %%
# The largest gamma whose share lies within two standard errors of nu, and the region that its model accepts.

figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
left.semilogx(gamma, rate, "o-", color="#0072B2", markersize=4, label="left-out rows rejected")
limit = nu + 2 * np.sqrt(nu * (1 - nu) / len(X))
left.axhspan(0, limit, color="#56B4E9", alpha=0.25, label="consistent with nu = 0.1")
left.axvline(model.gamma, color="#D55E00", linestyle="--", label="chosen gamma")
left.set(xlabel="gamma", ylabel="share of rows", ylim=(0, 1))
left.legend(fontsize=8)
x, y = np.meshgrid(np.linspace(-1.6, 2.6, 120), np.linspace(-1.3, 1.8, 100))
values = model.decision_function(np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)
right.contourf(x, y, values, levels=[0, values.max()], colors=["#56B4E9"], alpha=0.35)
right.contour(x, y, values, levels=[0], colors="#0072B2")
rejected = model.loo_predictions_ < 0
right.plot(*X[~rejected].T, "k.", markersize=3, label="accepted left out")
right.plot(*X[rejected].T, "x", color="#D55E00", markersize=5, label="rejected left out")
right.set(xlabel="first feature", ylabel="second feature")
right.legend(fontsize=8)
plt.show()
