"""
3. Leave-one-out, point by point
================================

Most points need no work at all, and the others little: how each point's leave-one-out decision was found.
"""

# %%
# Points that are no support vectors are correct without themselves too (check 1); those that their own
# classifier gets wrong remain errors (check 2); a third check settles points far from the margin. The
# others are unlearned: alpha goes to 0 along the path of optimal solutions, until the sign of the decision
# value is certain.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from svmselect import RBF, Gram, decision_function, leave_one_out

X, labels = make_moons(400, noise=0.3, random_state=3)
y = 2 * labels - 1
gram = Gram(X, RBF(2.0))
loo = leave_one_out(gram, y, C=1)
print(f"leave-one-out error {100 * loo.error:.2f} %, {1000 * loo.cpu_s:.1f} ms")

# %%
# Crosses are errors.

how = {
    "check1": ("no support vector", "0.75"),
    "check2": ("an error already", "tab:red"),
    "check3": ("settled by the third check", "tab:green"),
    "certified": ("certain on the way", "tab:blue"),
    "unlearned": ("taken out", "tab:purple"),
}
figure, axes = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
u, v = np.meshgrid(np.linspace(-2, 3, 150), np.linspace(-1.5, 2, 150))
f = decision_function(gram, y, loo.solution, np.column_stack([u.ravel(), v.ravel()])).reshape(u.shape)
axes.contour(u, v, f, levels=[-1, 0, 1], colors="0.4", linestyles=["--", "-", "--"], linewidths=1)
for name, (label, color) in how.items():
    those = loo.resolved_by == name
    for marker, part in (("o", those & ~loo.errors), ("x", those & loo.errors)):
        axes.scatter(*X[part].T, s=18, marker=marker, color=color)
    axes.scatter([], [], s=18, color=color, label=f"{label}: {np.count_nonzero(those)}")
axes.set(xticks=[], yticks=[], xlim=(-2, 3), ylim=(-1.5, 2))
axes.legend(loc="upper right", fontsize=8)
plt.show()
