"""
8. Categories and missing values
================================

One column per category and one size for all numbers, and what it costs to leave either out.
"""

# %%
# A table with a category, an amount with a long tail and a number that is sometimes missing.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

from svmselect.sklearn import SVC, SeededCV, UnscaledWarning

rng = np.random.default_rng(1)
m = 500
table = pd.DataFrame(
    {
        "city": rng.choice(["Aix", "Bern", "Cork", "Delft"], size=m),
        "amount": np.exp(rng.normal(5, 1.5, size=m)),
        "age": rng.normal(40, 12, size=m),
    }
)
effect = table["city"].map({"Aix": 1.0, "Bern": -1.5, "Cork": 1.2, "Delft": -1.0})
y = (effect + 0.8 * (np.log(table["amount"]) - 5) + 0.7 * rng.normal(size=m) > 0).astype(int)
table.loc[rng.choice(m, 50, replace=False), "age"] = np.nan

# %%
# Four preparations, from numbers as they are to all that a kernel needs, each in a pipeline that is searched.
# The first one would raise an `UnscaledWarning`.

warnings.simplefilter("ignore", UnscaledWarning)
median = SimpleImputer(strategy="median")
size = StandardScaler()
codes, columns = OrdinalEncoder(), OneHotEncoder()
log = make_pipeline(FunctionTransformer(np.log), size)
scaled = make_pipeline(median, size)
preparations = {
    "numbers as they are": (codes, "passthrough", median),
    "one size": (make_pipeline(codes, size), size, scaled),
    "and a column per city": (columns, size, scaled),
    "and the logarithm": (columns, log, scaled),
}
errors = {}
for name, (city, amount, age) in preparations.items():
    prepare = make_column_transformer((city, ["city"]), (amount, ["amount"]), (age, ["age"]))
    search = SeededCV(make_pipeline(prepare, SVC()), extend=True).fit(table, y)
    errors[name] = 100 * search.loo_error_
    print(f"{name}: leave-one-out error {errors[name]:.1f} %")

figure, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
ax.barh(list(errors), errors.values(), color="C0")
ax.invert_yaxis()
ax.set(xlabel="leave-one-out error of the chosen model, %")
plt.show()
