"""
1. Select a model by its leave-one-out error
============================================

A search over C and gamma, with the exact leave-one-out error of every model.
"""

# %%
# The search stands where scikit-learn's ``GridSearchCV`` does: here behind a scaler, in a pipeline.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect.sklearn import LOOSearchCV, SearchDisplay

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), LOOSearchCV()).fit(X, y)
search = pipeline[-1]
print(f"best of {len(search.cv_results_['params'])} models: {search.best_params_}")
print(f"leave-one-out error {100 * search.loo_error_:.2f} %, found in {search.search_time_:.1f} s")

# %%
# scikit-learn would train 64 times 569 classifiers for this map. Large C and gamma fit the rows too
# closely, small ones not closely enough. The histogram has the rows by their margin: the decision value of
# the best model trained without the row, with the sign that makes it positive where the row is right.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
SearchDisplay.from_search(search, ax=axes[0])

SearchDisplay.from_search(search, kind="margins", ax=axes[1])
plt.show()
