"""
5. Weigh rows of doubtful origin
================================

How much should rows count whose labels are worth less? Spans answer it, with a bound for every row.
"""

# %%
# Every seventh label is careful work; of the others, two in five are wrong. The weight of the latter, their
# C, is chosen by the errors that careful rows would be if they were left out.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from svmselect import RBF, Gram, decision_function, leave_one_out, solve_csvc, span_rule

rng = np.random.default_rng(0)
X, labels = make_moons(800, noise=0.25, random_state=0)
careful = rng.random(800) < 0.15
wrong = ~careful & (rng.random(800) < 0.4)
y = np.where(wrong, -1, 1) * (2 * labels - 1)
X_new, labels_new = make_moons(5_000, noise=0.25, random_state=1)

gram = Gram(X, RBF(2.0))
weights = np.geomspace(0.001, 1, 13)
rule, exact, test = [], [], []
for weight in weights:
    C = np.where(careful, 1, weight)
    solution = solve_csvc(gram, y, C, tol=1e-9)
    rule.append(100 * span_rule(gram, y, solution).errors[careful].mean())
    exact.append(100 * leave_one_out(gram, y, C).errors[careful].mean())
    new = decision_function(gram, y, solution, X_new) >= 0
    test.append(100 * np.mean(new != labels_new))

# %%
# With weight 1 all rows are taken for equal, the worst choice here; with a weight near 0 the doubtful ones
# are hardly used.

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axes.plot(weights, test, color="0.7", linewidth=6, label="5,000 new points")
axes.plot(weights, exact, "k-", label="leave-one-out, careful rows")
axes.plot(weights, rule, "C1--", label="span rule, careful rows")
axes.set(xscale="log", xlabel="weight of the doubtful rows", ylabel="error, %", ylim=(0, None))
axes.legend()
plt.show()
