"""
14. Regression with honest residuals
====================================

An SVR that fits closely has small residuals on its own rows, and larger ones on new rows. The exact left-out
predictions tell them apart, and give intervals without another fit.
"""

# %%
# Eighty noisy values of a smooth function, and a model that is far too flexible for them.

import matplotlib.pyplot as plt
import numpy as np

from svmselect.sklearn import SVR, SeededCV

rng = np.random.default_rng(0)


def draw(m):
    X = rng.uniform(-3, 3, size=(m, 1))
    return X, np.sinc(X[:, 0]) + 0.15 * rng.normal(size=m)


X, y = draw(80)
X_test, y_test = draw(5000)
flexible = SVR(C=100, gamma=10, epsilon=0.05).fit(X, y)
for name, residuals in [
    ("its own rows", y - flexible.predict(X)),
    ("left-out rows", flexible.loo_residuals_),
    ("new rows", y_test - flexible.predict(X_test)),
]:
    print(f"mean absolute residual, {name}: {np.abs(residuals).mean():.3f}")

# %%
# Three folds choose a smoother model. Its intervals have 90 % of new rows.

grid = {"C": [0.1, 1, 10, 100], "gamma": [0.1, 1, 10], "epsilon": [0.05, 0.1, 0.2]}
search = SeededCV(SVR(), grid, scoring="neg_mean_absolute_error").fit(X, y)
low, high = search.predict_interval(X_test, alpha=0.1).T
covered = np.mean((low <= y_test) & (y_test <= high))
print(search.best_params_, f"share of new rows in their intervals: {covered:.3f}")

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
line = np.linspace(-3, 3, 400)[:, None]
low, high = search.predict_interval(line, alpha=0.1).T
ax.fill_between(line[:, 0], low, high, color="#56B4E9", alpha=0.35, label="90 % interval (jackknife+)")
ax.plot(line, search.predict(line), color="#0072B2", label="chosen by 3 folds")
ax.plot(line, flexible.predict(line), "--", color="#D55E00", linewidth=1, label="C = 100, gamma = 10")
ax.plot(X[:, 0], y, "k.", markersize=5, label="training rows")
ax.set(xlabel="x", ylabel="target", ylim=(-0.6, 1.65))
ax.legend(fontsize=8, ncols=2)
plt.show()
