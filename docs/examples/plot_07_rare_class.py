"""
7. A rare class
===============

Accuracy prefers a model that never finds it. Scores of the left-out rows, and a threshold, do not.
"""

# %%
# One row in twenty is positive. The same grid is searched twice: by accuracy, and by balanced accuracy with
# classes that weigh the same.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import balanced_accuracy_score

from svmselect.sklearn import SVC, SearchDisplay, SeededCV

rng = np.random.default_rng(0)


def draw(m):
    rare = (np.arange(m) % 20 == 0).astype(int)
    return rng.normal(size=(m, 4)) + 1.1 * rare[:, None], rare


X, y = draw(600)
X_test, y_test = draw(4000)
grid = {"C": [0.1, 1, 10, 100], "gamma": [0.001, 0.01, 0.1, 1]}
searches = {
    "accuracy": SeededCV(SVC(), grid),
    "balanced accuracy": SeededCV(SVC(class_weight="balanced"), grid, scoring="balanced_accuracy"),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, (name, search) in zip(axes, searches.items(), strict=True):
    search.fit(X, y)
    found = balanced_accuracy_score(y_test, search.predict(X_test))
    print(f"chosen by {name}: {search.best_params_}, balanced accuracy of new rows {found:.3f}")
    SearchDisplay.from_search(search, ax=ax)
    ax.set_title(f"by {name}", loc="left")
plt.show()

# %%
# A model with good decision values may still have its threshold in the wrong place. It is tuned on the
# left-out decision values, for which no other model is trained.

curve = SVC(C=1, gamma=0.01, class_weight="balanced", threshold="balanced_accuracy").fit(X, y)
values = curve.loo_decision_.ravel()
cuts = np.linspace(values.min(), values.max(), 200)
scores = [balanced_accuracy_score(y, values >= cut) for cut in cuts]
figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
ax.plot(cuts, scores)
ax.axvline(curve.threshold_, color="0.5", linestyle="--", label=f"tuned: {curve.threshold_:.2f}")
ax.set(xlabel="threshold of the decision value", ylabel="balanced accuracy of left-out rows")
ax.legend()
plt.show()
