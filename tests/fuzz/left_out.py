"""Left-out values of small degenerate problems against an independent judge, with the rows in two orders.

    .venv/bin/python tests/fuzz/left_out.py NUMBER [SEED]

Rows repeat or lie on a lattice, weights are whole numbers. It prints each problem in which a value differs
from the judge's by more than 1e-7 of the values' size, a label differs between two orders of the rows or from
the judge's, or a model rejects more of its own rows than nu allows. At the end it prints how many rows were
compared, and how many the judge does not know.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from fuzz import reference

from svmselect import (
    RBF,
    Gram,
    Linear,
    Polynomial,
    leave_one_out_nusvr,
    leave_one_out_one_class,
    leave_one_out_svr,
    solve_nusvr,
    solve_one_class,
)

CLOSE, KNOWN = 1e-7, 1e-9
# smaller values of the judge are 0; between the two its sign is not certain
ZERO, TIE = 1e-12, 1e-8
TASKS = ("one class", "svr", "nu-svr")


def drawn(rng):
    """Return a random problem: task, rows, targets, weights, parameters and kernel."""
    m, d = int(rng.integers(3, 11)), int(rng.integers(1, 4))
    kind = rng.integers(4)
    if kind == 0:
        X = rng.integers(0, 3, size=(m, d)).astype(float)
    elif kind == 1:
        X = rng.normal(size=(m, d))[rng.integers(0, max(m // 2, 1), size=m)]
    elif kind == 2:
        X = rng.integers(-1, 2, size=(m, d)).astype(float)
    else:
        X = rng.normal(size=(m, d))
    z = np.round(2 * rng.normal(size=m)) / rng.choice([1, 2]) if rng.random() < 0.7 else rng.normal(size=m)
    weight = rng.integers(1, 4, size=m).astype(float) if rng.random() < 0.5 else np.ones(m)
    if rng.random() < 0.1:
        weight[rng.integers(m)] = 0
    kernels = [RBF(0.5), RBF(10.0), RBF(0.01), Linear(), Polynomial(2, 0.5, 1.0)]
    C, epsilon = float(10.0 ** rng.integers(-2, 3)), float(rng.choice([0.0, 0.1, 0.25, 0.5, 1.0]))
    nu = float(rng.choice([0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1.0]))
    return TASKS[rng.integers(3)], X, z, weight, C, epsilon, nu, kernels[rng.integers(len(kernels))]


def gram_of(X, kernel, task):
    """Return the Gram matrix; one class measures rows from 0."""
    return Gram(
        X, kernel, origin=np.zeros(X.shape[1]) if task == "one class" and not kernel.stationary else None
    )


def left_out(task, X, z, weight, C, epsilon, nu, kernel):
    """Return the library's left-out values of all rows, and the rows that are not known."""
    gram = gram_of(X, kernel, task)
    if task == "one class":
        loo = leave_one_out_one_class(gram, nu, weight)
        return loo.decision, loo.not_converged
    loo = (
        leave_one_out_svr(gram, z, C * weight, epsilon)
        if task == "svr"
        else leave_one_out_nusvr(gram, z, C * weight, nu)
    )
    return loo.predictions, loo.not_converged


def right_value(task, K, z, weight, C, epsilon, nu, r):
    """Return the judge's left-out value of row r, and the KKT gap of its model."""
    weight = weight.copy()
    weight[r] = 0
    if task == "one class":
        values, gap = reference.one_class(K, weight, nu)
    elif task == "svr":
        values, gap = reference.svr(K, z, C * weight, epsilon)
    else:
        values, gap = reference.nu_svr(K, z, C * weight, nu)
    return values[r], gap


def faults(rng):
    """Return the faults of one problem as words, and how many rows were compared and are not known."""
    problem = task, X, z, weight, C, epsilon, nu, kernel = drawn(rng)
    if np.count_nonzero(weight) < 3:
        return [], 0, 0
    faults_found, compared, unknown = [], 0, 0
    K = gram_of(X, kernel, task).matrix()
    values, not_converged = left_out(*problem)
    # 1) another order of the rows
    order = rng.permutation(len(X))
    again = np.empty(len(X))
    again[order] = left_out(task, X[order], z[order], weight[order], C, epsilon, nu, kernel)[0]
    size = max(
        np.abs(values).max(),
        np.abs(K).max() * nu * weight.sum() * 1e-3 if task == "one class" else np.ptp(z),
        1e-3,
    )
    differ = np.abs(values - again) > CLOSE * size
    if task == "one class":
        differ |= (values < 0) != (again < 0)
    faults_found += [
        f"row {r} in another order: {values[r]:.9g} {again[r]:.9g}" for r in np.flatnonzero(differ)
    ]
    # 2) the judge
    for r in np.flatnonzero(weight > 0):
        right, gap = right_value(task, K, z, weight, C, epsilon, nu, r)
        if r in not_converged or not gap <= KNOWN * size:
            unknown += 1
            continue
        compared += 1
        wrong = abs(values[r] - right) > CLOSE * size
        if task == "one class" and not TIE * size > abs(right) > ZERO * size:
            wrong |= (values[r] < 0) != (right < -ZERO * size)
        if wrong:
            faults_found.append(f"row {r}: {values[r]:.9g}, right is {right:.9g}")
    # 3) what training promises
    gram = gram_of(X, kernel, task)
    if task == "one class":
        rejected = weight @ (solve_one_class(gram, nu, weight).decision < 0)
        if rejected > nu * weight.sum() * (1 + 1e-12):
            faults_found.append(f"training rejects {rejected} of {weight.sum()} by nu = {nu}")
    elif task == "nu-svr":
        solution = solve_nusvr(gram, z, C * weight, nu)
        share = np.abs(solution.theta).sum() / (nu * C * weight.sum())
        if solution.converged and share > 1 + 1e-9:
            faults_found.append(f"the variables are {share} of what nu allows")
    return (
        [f"{task} {kernel} C={C:g} epsilon={epsilon:g} nu={nu:g}: {words}" for words in faults_found],
        compared,
        unknown,
    )


def main(number, seed=0):
    """Judge so many problems, and print what differs; return the number of problems that differ."""
    total, unknown, bad = 0, 0, 0
    for n in range(seed, seed + number):
        faults_found, compared, not_known = faults(np.random.default_rng(n))
        total, unknown, bad = total + compared, unknown + not_known, bad + bool(faults_found)
        for words in faults_found:
            print(n, words, flush=True)
    print(f"{number} problems, {total} rows compared, {unknown} unknown, {bad} problems differ")
    return bad


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
