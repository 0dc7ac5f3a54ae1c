"""
9. Rows that belong together
============================

Rows of one patient test each other unless whole patients are left out.
"""

# %%
# Sixty patients have five rows each, which hardly differ, and one diagnosis for all five. The more widely a
# kernel looks, the less it can recognise a patient.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedKFold

from svmselect.sklearn import SVC, SeededCV

rng = np.random.default_rng(2)
patient = np.repeat(np.arange(60), 5)
center = rng.normal(size=(60, 3))
X = center[patient] + 0.05 * rng.normal(size=(300, 3))
y = (center[:, 0] + rng.normal(size=60) > 0).astype(int)[patient]
gammas = np.logspace(-3, 3, 13)
apart = SeededCV(SVC(C=10), {"gamma": gammas}, cv=StratifiedKFold(5, shuffle=True, random_state=0)).fit(X, y)
together = SeededCV(SVC(C=10), {"gamma": gammas}, cv=GroupKFold(5)).fit(X, y, groups=patient)

# %%
# Folds of rows promise an error near zero, for a kernel so narrow that it looks the patient up. What counts
# are patients that the model has not met.

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for search, label, style in ((apart, "rows left out", "o--"), (together, "patients left out", "s-")):
    error = 100 * (1 - search.cv_results_["mean_test_score"])
    ax.plot(gammas, error, style, label=f"{label}: chosen gamma {search.best_params_['gamma']:g}")
    print(f"{label}: {error.min():.1f} % at gamma = {search.best_params_['gamma']:g}")
ax.set(xscale="log", xlabel="gamma", ylabel="error, %", ylim=(0, None))
ax.legend()
plt.show()
