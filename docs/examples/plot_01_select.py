"""
1. Select a model, and know its leave-one-out error
===================================================

A search over C and gamma by 3 folds, and the exact leave-one-out error of the model that it chooses.
"""

# %%
# The search stands where scikit-learn's ``GridSearchCV`` does: here behind a scaler, in a pipeline.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect.sklearn import SearchDisplay, SeededCV

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), SeededCV()).fit(X, y)
search = pipeline[-1]
best = search.best_params_
print(f"best of {len(search.cv_results_['params'])} models: C = {best['C']:g}, gamma = {best['gamma']:.3g}")
print(f"3-fold error {100 * (1 - search.best_score_):.2f} %, found in {search.search_time_:.1f} s")
print(f"leave-one-out error of the chosen model {100 * search.best_estimator_.loo_error_:.2f} %")

# %%
# Large C and gamma fit the rows too closely, small ones not closely enough. The histogram has the rows by
# their margin: the decision value of the best model trained without the row, with the sign that makes it
# positive where the row is right. scikit-learn would train 569 classifiers for it.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
SearchDisplay.from_search(search, ax=axes[0])

SearchDisplay.from_search(search, kind="margins", ax=axes[1])
plt.show()
