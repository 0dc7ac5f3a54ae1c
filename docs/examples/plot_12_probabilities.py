"""
12. Probabilities without another fit
=====================================

Left-out decision values calibrate a model; those of its own training rows would not.
"""

# %%
# Overlapping classes, with an error of about one in six that no model can avoid.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from svmselect.sklearn import SVC

rng = np.random.default_rng(6)


def draw(m):
    y = rng.integers(0, 2, size=m)
    return rng.normal(size=(m, 5)) + 0.9 * y[:, None] * np.array([1, 1, 0, 0, 0]), y


X, y = draw(300)
X_test, y_test = draw(20000)
model = SVC(C=10, gamma=0.1, calibration="loo").fit(X, y)

# %%
# Where the model says 70 %, seven in ten rows should be of the class. For comparison, the same sigmoid is
# fitted to the decision values of the training rows, among which the model is far too sure of itself.

naive = LogisticRegression(C=1e6).fit(model.decision_function(X)[:, None], y)
probabilities = {
    "left-out values": model.predict_proba(X_test)[:, 1],
    "values of the training rows": naive.predict_proba(model.decision_function(X_test)[:, None])[:, 1],
}
figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
for (name, probability), style in zip(probabilities.items(), ("o-", "s--"), strict=True):
    true, said = calibration_curve(y_test, probability, n_bins=10)
    loss = -np.mean(np.log(np.where(y_test == 1, probability, 1 - probability)))
    print(f"{name}: log loss of new rows {loss:.3f}")
    ax.plot(said, true, style, label=f"{name}: log loss {loss:.3f}")
ax.set(xlabel="probability", ylabel="share of the class", aspect="equal")
ax.legend(fontsize=8)
plt.show()
