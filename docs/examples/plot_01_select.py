"""
1. Select a model, and know its leave-one-out error
===================================================

A search over C and gamma by 3 folds, and the exact leave-one-out error of the model that it chooses.
"""

# %%
# The search takes a pipeline, as scikit-learn's ``GridSearchCV`` does, and scales each fold by its own rows.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect.sklearn import SVC, SearchDisplay, SeededCV

X, y = load_breast_cancer(return_X_y=True)
search = SeededCV(make_pipeline(StandardScaler(), SVC())).fit(X, y)
print("best of 64 models: C = {svc__C:g}, gamma = {svc__gamma:.3g}".format(**search.best_params_))
print(f"3-fold error {1 - search.best_score_:.2%}, in {search.search_time_:.1f} s")
print(f"leave-one-out error of the chosen model {search.loo_error_:.2%}")

# %%
# Large C and gamma fit the rows too closely, small ones not closely enough. The histogram has the rows by
# their margin: the decision value of the best model trained without the row, with the sign that makes it
# positive where the row is right. scikit-learn would train 569 classifiers for it.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
SearchDisplay.from_search(search, ax=axes[0])
SearchDisplay.from_search(search, kind="margins", ax=axes[1])
plt.show()
