"""
11. Kernels, their sums and products
====================================

The same rows by four kernels, and what each takes for the boundary.
"""

# %%
# Two rings, of which one has a gap. Every kernel goes into the same functions.

import matplotlib.pyplot as plt
import numpy as np

from svmselect import RBF, Gram, Laplacian, Linear, Polynomial, decision_function, leave_one_out, solve_csvc

rng = np.random.default_rng(5)
angle = rng.uniform(0, 2 * np.pi, size=240)
y = np.where(np.arange(240) % 2, 1.0, -1.0)
angle[y > 0] *= 0.8
radius = np.where(y > 0, 1.0, 1.8) + 0.25 * rng.normal(size=240)
X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
kernels = {
    "linear": Linear(),
    "polynomial": Polynomial(degree=3, gamma=1.0, coef0=1.0),
    "RBF": RBF(2.0),
    "Laplacian + linear": Laplacian(1.0) + 0.1 * Linear(),
}

# %%
# The leave-one-out error compares kernels as it compares any other parameters.

place = np.linspace(-2.8, 2.8, 80)
plane = np.array(np.meshgrid(place, place)).reshape(2, -1).T
figure, axes = plt.subplots(1, 4, figsize=(11, 3.1), sharey=True, layout="constrained")
for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
    gram = Gram(X, kernel)
    solution = solve_csvc(gram, y, C=1)
    error = leave_one_out(gram, y, C=1).error
    print(f"{name}: leave-one-out error {100 * error:.1f} %, {solution.n_sv} support vectors")
    value = decision_function(gram, y, solution, plane).reshape(80, 80)
    ax.contourf(place, place, value > 0, cmap="coolwarm", alpha=0.25)
    ax.contour(place, place, value, [0], colors="0.3")
    for label, marker, color in ((1, "o", "tab:red"), (-1, "s", "tab:blue")):
        ax.plot(*X[y == label].T, marker, markersize=2.5, color=color)
    ax.set(title=f"{name}: {100 * error:.1f} %", aspect="equal")
plt.show()
