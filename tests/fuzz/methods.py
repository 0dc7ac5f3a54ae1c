"""Every public function, asked about a problem said in some way, and what its answer has to be.

A method takes a Said and a random generator for its options, and raises Wrong.
"""

from __future__ import annotations

from functools import partial
from unittest import mock

import numpy as np
from fuzz.checks import (
    check_decisions,
    check_errors,
    check_hopeless,
    check_retrained,
    check_solution,
    left_by_steps,
    require,
)
from fuzz.estimates import ESTIMATES
from fuzz.faces import FACES
from fuzz.truth import EPS, LONG
from numerics.problems import solve_blocked

from svmselect import (
    InfeasibleNu,
    cross_validate,
    cross_validate_grid,
    decision_function,
    leave_one_out,
    solve_csvc,
    solve_nusvc,
    solve_path,
    stratified_folds,
)
from svmselect.loo import _retrain

EXACT = 1e-9  # the KKT gap from which leave-one-out unlearns
PATH_GAP = 1e-8  # that which the end of a path may have
STEPS = 5_000  # of SMO alone, which creeps where C is large
STEPS_OF_BLOCKS = 300  # per row of a block
FEW_STEPS = 500  # per left-out point, where each may compute a column
TOLERANCES = (1e-1, 1e-3, 1e-6, 1e-9)


def csvc(said, rng):
    tol = float(rng.choice(TOLERANCES))
    active_set = bool(rng.random() < 0.8)
    solution = solve_csvc(
        said.gram(),
        said.y,
        said.C,
        tol=tol,
        working_set=str(rng.choice(["wss2", "mvp"])),
        active_set=active_set,
        max_iter=None if active_set else STEPS,
    )
    if check_solution(said, solution, tol, limit=None if active_set else STEPS):
        check_decisions(said, solution.decision, None, tol, np.arange(said.problem.m), "decision value")


def csvc_blocked(said, rng):
    """Blocks of a few rows, some rows without a bound, and a start."""
    tol, size = float(rng.choice(TOLERANCES)), int(rng.choice([2, 3, 8, 20, 64]))
    C, left_out = said.C, np.zeros(said.problem.m, dtype=bool)
    if rng.random() < 0.5:
        left_out = rng.random(said.problem.m) < 0.3
        left_out[[np.argmax(said.y), np.argmin(said.y)]] = False
        C = np.where(left_out, 0, said.C)
    gram = said.gram()
    start = solve_csvc(gram, said.y, C, tol=1.0, max_iter=STEPS).alpha if rng.random() < 0.3 else None
    # blocks of few rows creep where C is large, as SMO does, and each costs as much as many steps
    limit = None if size >= said.problem.m else min(STEPS, STEPS_OF_BLOCKS * size)
    solution = solve_blocked(gram, said.y, C, size, tol=tol, start=start, max_iter=limit)
    if check_solution(said, solution, tol, C, limit):
        rows = np.arange(said.problem.m)
        check_decisions(said, solution.decision, said.bounds(left_out), tol, rows, "decision value")


def csvc_left_out(said, rng):
    """Rows without a bound, and a start."""
    left_out = rng.random(said.problem.m) < 0.3
    left_out[[np.argmax(said.y), np.argmin(said.y)]] = False
    C = np.where(left_out, 0, said.C)
    gram = said.gram()
    first = solve_csvc(gram, said.y, C, tol=1e-1)
    solution = solve_csvc(gram, said.y, C, tol=1e-6, start=first.alpha)
    if check_solution(said, solution, 1e-6, C):
        rows = np.arange(said.problem.m)
        check_decisions(said, solution.decision, said.bounds(left_out), 1e-6, rows, "decision value")


def nusvc(said, rng):
    """The solution is that of the C-SVC with its bounds, and has nu of them."""
    nu, tol = float(rng.choice([0.01, 0.1, 0.3, 0.5, 0.8, 1.0])), float(rng.choice([1e-3, 1e-6]))
    equal = bool(rng.random() < 0.5)
    weight = None if equal else said.C / said.C.max()
    gram = said.gram()
    try:
        solution = solve_nusvc(gram, said.y, nu, weight=weight, tol=tol, max_iter=STEPS)
    except InfeasibleNu:
        return
    weight = np.ones(said.problem.m) if equal else weight
    share = weight[said.y > 0].sum(), weight[said.y < 0].sum()
    require(nu <= 2 * min(share) / sum(share) * (1 + 1e-12), "feasible nu", f"{nu} for classes of {share}")
    ours = solution.C.sum()
    off = abs(float(solution.alpha.astype(LONG).sum()) - nu * ours)
    require(
        off <= 16 * float(EPS) * said.problem.m * ours,
        "sum",
        f"alphas sum to {solution.alpha.sum()!r}, not {nu * ours!r}",
    )
    # its tolerance is that of the kernel's scale or of rho, within each class
    rho = weight.max() / solution.C.max()
    gap = 2 * tol * min(max(1.0, float(gram.diagonal.max())) / rho, 1.0)
    check_solution(said, solution, gap, solution.C, limit=STEPS)


def decisions(said, rng):
    """At the rows, and at new ones between them."""
    tol = 1e-6
    gram = said.gram()
    solution = solve_csvc(gram, said.y, said.C, tol=tol)
    theta = said.y * solution.alpha
    noise = 4 * float((said.truth.E[np.ix_(said.rows, said.rows)] @ np.abs(theta)).max()) / said.factor
    result = decision_function(gram, said.y, solution, said.X)
    off = float(np.abs(result - solution.decision).max())
    most = noise + left_by_steps(tol) + 64 * float(EPS)
    require(off <= most, "decision function", f"{off:.3g} off the solution's values")


def path(said, rng):
    Cs = np.unique(said.C)[:1] * 4.0 ** np.arange(-2, 3)
    gammas = None if said.problem.gamma is None else [said.problem.gamma]
    start = str(rng.choice(["none", "C"] + ([] if gammas is None else ["gamma"])))
    for point in solve_path(said.gram(), said.y, Cs, gammas=gammas, warm_start=start, tol=1e-6):
        check_solution(said, point.solution, 1e-6, np.full(said.problem.m, point.C))


def left_out(said, rng, method):
    tol = float(rng.choice([1e-3, 1e-6, 1e-9]))
    limit = None
    if method != "unlearn":
        limit = FEW_STEPS if said.few else STEPS
    loo = leave_one_out(
        said.gram(),
        said.y,
        said.C,
        method=method,
        tol=tol,
        working_set=str(rng.choice(["mvp", "wss2"])),
        max_iter=limit,
    )
    m = said.problem.m
    require(loo.error == loo.errors.mean(), "error", f"{loo.error} of {loo.errors}")
    full = min(tol, EXACT) if method == "unlearn" else tol
    for r in range(m):
        how = str(loo.resolved_by[r])
        bounds = said.bounds(np.arange(m) == r)
        rows = np.array([r])
        # a check says what the full solution says, a sign that is proved is so for any tolerance
        slack = tol if how == "retrained" else full
        if r in loo.not_converged:
            if limit is None:
                check_hopeless(said, slack, bounds, loo.solution.alpha, f"row {r}, {how}")
            continue
        if how.startswith("check") and not loo.solution.converged:
            continue
        check_errors(said, loo.errors, bounds, slack, rows, f"leave-one-out, {how}")
        check_retrained(said, loo.errors, bounds, slack, r, f"leave-one-out, {how}")
        if how in ("unlearned", "retrained"):
            check_decisions(said, loo.decision, bounds, slack, rows, f"left-out decision, {how}")
    check_solution(said, loo.solution, full, limit=limit)


def left_out_by_paths(said, rng):
    """Leave-one-out by unlearning where no steps before a path decide, as they do in most small problems."""
    with mock.patch.object(_retrain, "SWEEPS", ()):
        left_out(said, rng, "unlearn")


def left_out_decisions(said, rng):
    """The decision value of every row by the classifier without it."""
    method = str(rng.choice(["unlearn", "unlearn", "retrain", "certified"]))
    limit = None if method == "unlearn" else FEW_STEPS if said.few else STEPS
    loo = leave_one_out(said.gram(), said.y, said.C, method=method, max_iter=limit, decision_values=True)
    require((loo.errors == ((loo.decision >= 0) != (said.y > 0))).all(), "errors", "are not the signs' ")
    for r in range(said.problem.m):
        bounds, how = said.bounds(np.arange(said.problem.m) == r), str(loo.resolved_by[r])
        require(how in ("check1", "unlearned", "retrained"), "resolved", f"row {r} is {how}")
        if r not in loo.not_converged:
            rows = np.array([r])
            check_decisions(said, loo.decision, bounds, PATH_GAP, rows, f"left-out decision, {how}")
            check_retrained(said, loo.errors, bounds, PATH_GAP, r, f"left-out decision, {how}")
        elif limit is None and loo.solution.converged:
            check_hopeless(said, PATH_GAP, bounds, loo.solution.alpha, f"row {r}, {how}")
    check_solution(said, loo.solution, PATH_GAP, limit=limit)


def folds_of(said, rng):
    """Folds that hold all copies of a row; None where one would leave a class alone."""
    base = said.base
    k = int(rng.integers(2, base.m + 1))
    folds = np.arange(base.m)
    if rng.random() < 0.8:
        try:
            folds = stratified_folds(base.y, k, int(rng.integers(100)))
        except ValueError:  # a small class leaves folds empty
            return None
    for fold in range(folds.max() + 1):
        if np.unique(base.y[folds != fold]).size < 2:
            return None
    return folds[said.rows]


def cross_validated(said, rng, seeding):
    folds = folds_of(said, rng)
    if folds is None:
        return
    tol = float(rng.choice([1e-3, 1e-6, 1e-9]))
    gram = said.gram()
    if seeding in ("avg", "top"):
        folds = folds if np.bincount(folds).max() == 1 else np.unique(said.rows, return_inverse=True)[1]
        if min((said.base.y > 0).sum(), (said.base.y < 0).sum()) < 2:
            return
    cv = cross_validate(gram, said.y, said.C, folds, seeding, tol=tol)
    require((cv.errors == ((cv.decision >= 0) != (said.y > 0))).all(), "errors", "are not the signs' ")
    for fit in cv.rounds:
        out = folds == fit.fold
        bounds, rows = said.bounds(out), np.flatnonzero(out)
        if fit.converged:
            check_errors(said, cv.errors, bounds, tol, rows, "cross-validation")
            check_decisions(said, cv.decision, bounds, tol, rows, "held-out decision")
            for row in rows:
                check_retrained(said, cv.errors, bounds, tol, row, "cross-validation")
        else:
            check_hopeless(said, tol, bounds, np.zeros(said.problem.m), f"fold {fit.fold}")


def grid(said, rng):
    folds = folds_of(said, rng)
    if folds is None:
        return
    tol, m = 1e-6, said.problem.m
    Cs = np.unique(said.C)[:1] * [1.0, 4.0]
    gammas = None if said.problem.gamma is None else [said.problem.gamma]
    result = cross_validate_grid(said.gram(), said.y, Cs, gammas=gammas, folds=folds, tol=tol)
    for c, C in enumerate(Cs):
        for fold in range(folds.max() + 1):
            out = folds == fold
            bounds = np.bincount(said.rows, np.where(out, 0, np.full(m, C)) / said.factor, said.base.m)
            rows = np.flatnonzero(out)
            low, high = said.truth.intervals(bounds, tol, said.rows[rows])
            label = said.base.y[said.rows[rows]]
            least = np.count_nonzero(np.where(label > 0, high < 0, low > 0))
            most = np.count_nonzero(np.where(label > 0, low <= 0, high >= 0))
            errors = int(result.errors[0, c, fold])
            require(
                not result.converged[0, c, fold] or least <= errors <= most,
                "errors of a fold",
                f"{errors} in fold {fold} for C = {C:g}; there are {least} to {most}",
            )


METHODS = {
    "csvc": csvc,
    "csvc by blocks": csvc_blocked,
    "csvc with rows left out": csvc_left_out,
    "nusvc": nusvc,
    "decision function": decisions,
    "path": path,
    **{
        f"leave-one-out {method}": partial(left_out, method=method)
        for method in ("unlearn", "certified", "retrain")
    },
    "leave-one-out paths": left_out_by_paths,
    "leave-one-out decisions": left_out_decisions,
    **{
        f"cross-validation {seeding}": partial(cross_validated, seeding=seeding)
        for seeding in ("cold", "ato", "mir", "sir", "avg", "top", "unlearn")
    },
    "grid": grid,
    **ESTIMATES,
    **FACES,
}
