"""Exact leave-one-out against brute force, against its own bounds, and on nasty problems."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import solve_qp, two_classes
from sklearn.svm import SVC
from slow import slow

from svmselect import RBF, Gram, Linear, leave_one_out, solve_csvc
from svmselect.loo import _retrain, sufficiency_checks
from svmselect.loo.leave_one_out import METHODS

IDA = [
    "banana",
    "breast-cancer",
    "diabetis",
    "flare-solar",
    "german",
    "heart",
    "image",
    "ringnorm",
    "splice",
    "thyroid",
    "titanic",
    "twonorm",
    "waveform",
]


def brute_force(gram, y, C):
    """Left-out decision values by training without each point, with C_r = 0."""
    C = np.broadcast_to(C, y.shape)
    decision = np.empty(len(y))
    for r in range(len(y)):
        without = np.where(np.arange(len(y)) == r, 0.0, C)
        if np.unique(y[without > 0]).size < 2:  # one class is left: it is what the classifier says
            decision[r] = -y[r]
        else:
            decision[r] = solve_csvc(gram, y, without, tol=1e-9, max_iter=10**7).decision[r]
    return decision


def assert_same_errors(loo, decision, y, tie=1e-5):
    """The error pattern is that of the decision values, but for points whose value is a tie."""
    expected = (decision >= 0) != (y > 0)
    differ = (loo.errors != expected) & (np.abs(decision) > tie)
    assert not differ.any(), [
        (int(i), str(loo.resolved_by[i]), loo.decision[i], decision[i]) for i in np.flatnonzero(differ)
    ]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = draw(st.integers(4, 30))
    X, y = two_classes(rng, m, draw(st.integers(1, 4)), gap=draw(st.sampled_from([0.0, 1.0, 4.0])))
    y[2:4] = -1.0, 1.0
    nasty = draw(st.sampled_from(["plain", "plain", "duplicates", "grid"]))
    if nasty == "duplicates":
        X[m // 2 :] = X[: m - m // 2]
    elif nasty == "grid":
        X = np.round(X)
    C = draw(st.sampled_from([0.1, 1.0, 20.0]))
    if draw(st.booleans()):
        C = C * rng.uniform(0.2, 1, size=m)
    return X, y, C, draw(st.sampled_from([Linear(), RBF(0.05), RBF(1.0), RBF(30.0)]))


@given(problem=problems(), method=st.sampled_from(METHODS))
@settings(deadline=None, max_examples=120)
def test_errors_are_those_of_brute_force(problem, method):
    X, y, C, kernel = problem
    gram = Gram(X, kernel)
    loo = leave_one_out(gram, y, C, method=method, tol=1e-8, max_iter=10**6)
    assert_same_errors(loo, brute_force(gram, y, C), y)
    assert loo.error == loo.errors.mean()


def test_certified_signs_are_those_of_the_optimum_at_any_tolerance():
    X, y = two_classes(np.random.default_rng(0), 80, 4, gap=0.8)
    certified = dict(certified=0, unlearn=0)
    for kernel in (RBF(0.02), RBF(0.5), Linear()):
        gram = Gram(X, kernel)
        for C in (0.1, 1.0, 30.0):
            exact = brute_force(gram, y, C)
            for method, tol in (("certified", 1e-3), ("certified", 0.3), ("unlearn", 1e-3)):
                loo = leave_one_out(gram, y, C, method=method, tol=tol, efficiency_test=0)
                proved = loo.resolved_by == "certified"
                assert (np.sign(loo.decision[proved]) == np.sign(exact[proved])).all()
                certified[method] += loo.n_certified
    assert min(certified.values()) > 100


def test_the_bound_of_algorithm_3_is_the_constrained_optimum():
    """H's optimum, an SVM without threshold on k0, is above F's wherever Theorem 1 decides a sign."""
    X, y = two_classes(np.random.default_rng(1), 30, 3)
    K, C = Gram(X, RBF(0.5)).matrix(), np.full(30, 2.0)
    for r in (0, 1, 7):
        keep = np.arange(30) != r
        k0 = (K - K[r] - K[:, [r]] + K[r, r])[np.ix_(keep, keep)]
        _, H = solve_qp(k0, y[keep], C[keep], balanced=False)
        _, G = solve_qp(K[np.ix_(keep, keep)], y[keep], C[keep])
        # both are minima of negated duals: F >= -G, and the constraint can only raise the primal optimum
        assert -H >= -G - 1e-8
        loo = leave_one_out(Gram(X, RBF(0.5)), y, 2.0, method="certified", tol=1e-10, efficiency_test=0)
        if loo.resolved_by[r] == "certified":
            assert -H > -G


def test_first_checks_of_table_1():
    X, y = two_classes(np.random.default_rng(2), 120, 3)
    gram = Gram(X, RBF(0.3))
    solution = solve_csvc(gram, y, 1.0, tol=1e-6)
    checks = sufficiency_checks(gram, y, solution)
    wrong = (solution.decision >= 0) != (y > 0)
    assert (checks[solution.alpha == 0] == "check1").all()
    assert (checks[wrong] == "check2").all()
    slack = np.maximum(0, 1 - y * solution.decision)
    # with C = 1 and dozens of in-bound SVs there is room for any alpha
    third = (2 * solution.alpha + slack < 1) & ~wrong & (solution.alpha > 0)
    assert (checks[third] == "check3").all() and third.any()
    assert ((checks == "") == ((solution.alpha > 0) & ~wrong & ~third)).all()
    unstable = solve_csvc(gram, y, 1e-4)
    assert unstable.n_inbound == 0 and "check3" not in sufficiency_checks(gram, y, unstable)


def test_third_check_needs_room_in_the_boxes_of_the_inbound_svs():
    """The paper's condition, some in-bound SV, lets a point pass that is an error when left out."""
    X = np.array([[0.1], [-0.2], [0.3], [0.05]])
    y = np.array([-1.0, 1.0, -1.0, 1.0])
    C = np.array([0.06, 0.095, 0.085, 0.02])
    gram = Gram(X, Linear())
    solution = solve_csvc(gram, y, C, tol=1e-10)
    assert solution.n_inbound == 1
    r = 0
    slack = max(0, 1 - y[r] * solution.decision[r])
    assert solution.alpha[r] > 0 and 2 * solution.alpha[r] * gram.squared_radius() + slack < 1
    assert sufficiency_checks(gram, y, solution)[r] == ""
    decision = brute_force(gram, y, C)
    assert decision[r] > 0
    for method in METHODS:
        assert leave_one_out(gram, y, C, method=method, tol=1e-10).errors[r]


def test_efficiency_test_switches_to_the_standard_solver():
    X, y = two_classes(np.random.default_rng(3), 150, 10)
    gram = Gram(
        X, RBF(1.0)
    )  # every point is an in-bound SV: few signs are certain before the KKT conditions hold
    tested = leave_one_out(gram, y, 50.0, method="certified", efficiency_test=10)
    always = leave_one_out(gram, y, 50.0, method="certified", efficiency_test=0)
    solved = np.flatnonzero(np.isin(tested.resolved_by, ["retrained", "certified"]))
    assert solved.size > 20
    assert (tested.resolved_by[solved[:10]] == "certified").sum() < 5
    assert (tested.resolved_by[solved[10:]] == "retrained").all()
    np.testing.assert_array_equal(tested.resolved_by[solved[:10]], always.resolved_by[solved[:10]])
    np.testing.assert_array_equal(tested.errors, always.errors)


def test_methods_agree_and_certifying_requests_fewer_columns():
    X, y = two_classes(np.random.default_rng(4), 200, 5, gap=0.7)
    gram = Gram(X, Linear())
    # at 1e-3 the sign of a decision value near 0 is left to rounding
    standard = leave_one_out(gram, y, 10.0, method="retrain", tol=1e-5)
    proposed = leave_one_out(gram, y, 10.0, method="certified", tol=1e-5)
    unlearned = leave_one_out(gram, y, 10.0)
    np.testing.assert_array_equal(standard.errors, proposed.errors)
    np.testing.assert_array_equal(standard.errors, unlearned.errors)
    assert unlearned.n_solved == standard.n_solved
    assert unlearned.columns_requested < proposed.columns_requested
    assert standard.n_certified == 0 and standard.n_solved == proposed.n_solved > 0
    assert proposed.n_certified > proposed.n_solved / 2
    assert proposed.columns_requested < standard.columns_requested


def test_seeding_starts_feasible_and_close():
    """Retraining from the spread solution takes fewer steps than from zero."""
    X, y = two_classes(np.random.default_rng(5), 120, 4)
    gram = Gram(X, RBF(0.5))
    loo = leave_one_out(gram, y, 5.0, method="retrain", tol=1e-6, working_set="wss2")
    cold = sum(
        solve_csvc(gram, y, np.where(np.arange(120) == r, 0.0, 5.0), tol=1e-6, active_set=False).n_iter
        for r in np.flatnonzero(loo.resolved_by == "retrained")
    )
    assert 0 < loo.n_iter - loo.solution.n_iter < 0.8 * cold


@pytest.mark.parametrize("method", METHODS)
def test_the_same_paths_in_any_units(method):
    """A power of two rounds nothing: every step is the same to the last bit."""
    X, y = two_classes(np.random.default_rng(9), 60, 3)
    C = np.where(np.arange(60) < 30, 4.0, 1.0)
    results = [
        leave_one_out(Gram(2.0**k * X, Linear()), y, C / 4.0**k, method=method, tol=1e-5)
        for k in (0, -30, 30)
    ]
    for loo in results[1:]:
        np.testing.assert_array_equal(loo.resolved_by, results[0].resolved_by)
        np.testing.assert_array_equal(loo.decision, results[0].decision)
        assert loo.n_iter == results[0].n_iter and loo.columns_requested == results[0].columns_requested
    assert results[0].n_solved > 10 and results[0].n_not_converged == 0


@pytest.mark.parametrize("method", ["unlearn", *slow("certified", "retrain")])
def test_columns_beyond_the_budget(method, monkeypatch):
    X, y = two_classes(np.random.default_rng(6), 130, 3)
    whole = leave_one_out(Gram(X, RBF(0.4)), y, 5.0, method=method)
    few = leave_one_out(Gram(X, RBF(0.4), memory_mb=8 * 192 * 8 / 2**20), y, 5.0, method=method)
    np.testing.assert_array_equal(whole.errors, few.errors)
    # columns computed in other company are rounded otherwise: that changes steps, and may change whether a
    # sign is certain before the last of them
    solved = [~np.char.startswith(loo.resolved_by, "check") for loo in (whole, few)]
    np.testing.assert_array_equal(*solved)
    np.testing.assert_array_equal(whole.resolved_by[~solved[0]], few.resolved_by[~solved[0]])
    if method == "unlearn":  # each in-bound SV and each point that is left out or met: the same ones
        monkeypatch.setattr(_retrain, "SWEEPS", ())
        paths = leave_one_out(Gram(X, RBF(0.4)), y, 5.0)
        requested = [loo.columns_requested - loo.solution.columns_requested for loo in (paths, few)]
        assert whole.solution.n_inbound < requested[0] == requested[1] <= 2 * 130
        assert paths.n_retrained == few.n_retrained == 0
    else:
        assert whole.columns_requested == pytest.approx(few.columns_requested, rel=0.05)
    assert few.kernel_values > whole.kernel_values


@pytest.mark.parametrize("copies", [1, 2])
def test_few_steps_decide_what_is_easy(copies, monkeypatch):
    """What no check resolves of an easy model needs no path, also where a copy of the point stays."""
    X, y = two_classes(np.random.default_rng(12), 150, 4, gap=0.7)
    gram = Gram(np.repeat(X, copies, axis=0), RBF(0.02))
    y = np.repeat(y, copies)
    for C in (0.1 / copies, 1.0 / copies):
        loo = leave_one_out(gram, y, C)
        assert "unlearned" not in loo.resolved_by and loo.n_not_converged == 0
        assert_same_errors(loo, brute_force(gram, y, C), y)
        with monkeypatch.context() as patch:
            patch.setattr(_retrain, "SWEEPS", ())
            paths = leave_one_out(gram, y, C)
        assert paths.n_iter == paths.solution.n_iter and loo.n_solved == paths.n_solved > 10
        np.testing.assert_array_equal(loo.errors, paths.errors)


def test_few_steps_are_few_where_they_decide_little():
    X, y = two_classes(np.random.default_rng(12), 150, 4, gap=0.7)
    loo = leave_one_out(Gram(X, Linear()), y, 100.0)
    assert loo.n_solved > 30 and 0 < loo.n_iter - loo.solution.n_iter < 400
    # nor are there any where float32 leaves the kernel matrix indefinite
    single = leave_one_out(Gram(X, RBF(0.02), "float32"), y, 1.0)
    assert single.n_solved > 30 and single.n_iter == single.solution.n_iter


def test_one_point_of_a_class_is_an_error_when_left_out():
    X, y = two_classes(np.random.default_rng(7), 12, 2, gap=4)
    y[:] = -1
    y[3] = 1
    for method in METHODS:
        assert leave_one_out(Gram(X, RBF(0.5)), y, 1.0, method=method).errors[3]


@pytest.mark.parametrize("method", ["retrain", "certified"])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_a_decision_value_of_0_counts_as_the_positive_class(method, label):
    """Left out, the point in the middle of the two others has a decision value of 0, to the last bit; at the
    end of a path of unlearning round-off is added to it."""
    y = np.array([1.0, -1.0, label])
    loo = leave_one_out(Gram(np.array([[1.0], [-1.0], [0.0]]), Linear()), y, 10.0, method=method)
    assert loo.decision[2] == 0
    assert loo.errors[2] == (label < 0)


def test_progress_and_step_limit_are_reported():
    X, y = two_classes(np.random.default_rng(8), 60, 3)
    gram = Gram(X, RBF(0.5))
    calls = []
    for method in ("retrain", "certified"):
        calls.clear()
        loo = leave_one_out(
            gram, y, 5.0, method=method, progress=lambda done, total: calls.append((done, total))
        )
        assert calls == [(k + 1, loo.n_solved) for k in range(loo.n_solved)]
        assert loo.n_not_converged == 0
    calls.clear()
    loo = leave_one_out(gram, y, 5.0, progress=lambda done, total: calls.append((done, total)))
    # the points that need no path come first, together
    at_once = calls[0][0]
    assert 1 <= at_once < loo.n_solved
    done = [d for d, _ in calls]
    assert done == sorted(set(done)) and done[-1] == loo.n_solved and len(done) >= 2
    assert {total for _, total in calls} == {loo.n_solved}
    stopped = leave_one_out(gram, y, 5.0, method="retrain", tol=1e-9, max_iter=3)
    assert stopped.n_not_converged > 1 and not stopped.solution.converged

    def stop(done, total):
        raise RuntimeError("stopped by the caller")

    for method in METHODS:
        with pytest.raises(RuntimeError, match="stopped by the caller"):
            leave_one_out(gram, y, 5.0, method=method, progress=stop)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            dict(method="unlearned"),
            r"method\b.* 'unlearned'",
        ),
        (dict(C=[1, 1, 1, 0]), r"C\b.* 0 at point 3\b"),
        (dict(efficiency_test=-1), r"efficiency_test\b.* -1\b"),
        (dict(efficiency_test=2.5), r"efficiency_test\b.* 2.5\b"),
        (dict(y=[1, 2, 1, 2]), r"y\b.* \[1, 2\]"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    gram = Gram([[0.0], [1.0], [2.0], [3.0]], Linear())
    with pytest.raises(ValueError, match=sentence):
        leave_one_out(gram, **{"y": [1, -1, 1, -1], "C": 1.0, **arguments})


@pytest.mark.slow
@pytest.mark.parametrize("name", IDA)
@pytest.mark.filterwarnings("ignore:Solver terminated early:sklearn.exceptions.ConvergenceWarning")
def test_errors_are_those_of_libsvm_on_real_data(real_data, name):
    """Brute force by LIBSVM at tol 1e-6 on 100 rows of each IDA set.

    LIBSVM keeps its kernel in float32, with which 1e-6 may be out of reach: a step limit ends such fits, and
    points whose decision value is within 1e-3 of a tie there are not compared.
    """
    data = real_data(name)
    chosen = np.random.default_rng(1).choice(len(data.y), 100, replace=False)
    X, y = data.X[chosen], data.y[chosen].astype(float)
    compared = 0
    for kernel, C in ((Linear(), 0.1), (Linear(), 1.0), (RBF(2**-5.0), 1.0), (RBF(2**-5.0), 30.0)):
        gram = Gram(X, kernel)
        K = np.array(gram.matrix())
        decision = np.empty(100)
        for r in range(100):
            keep = np.arange(100) != r
            model = SVC(C=C, tol=1e-6, kernel="precomputed", shrinking=False, max_iter=20_000)
            model.fit(K[np.ix_(keep, keep)], y[keep])
            decision[r] = model.decision_function(K[[r]][:, keep])[0]
        compared += np.count_nonzero(np.abs(decision) > 1e-3)
        for method in METHODS:
            assert_same_errors(leave_one_out(gram, y, C, method=method, tol=1e-6), decision, y, tie=1e-3)
    assert compared > 380


@pytest.mark.parametrize("method", ["retrain", "certified"])
def test_points_at_which_smo_creeps_are_solved_all_the_same(method):
    X, y = two_classes(np.random.default_rng(11), 24, 3)
    gram, alone = Gram(X, Linear()), 20_000 + 10 * 24**2
    loo = leave_one_out(gram, y, 1e5, method=method, tol=1e-7, efficiency_test=0)
    crept = loo.n_iter - loo.solution.n_iter > alone
    decision = brute_force(gram, y, 1e5)
    assert crept and loo.n_not_converged == 0
    assert_same_errors(loo, decision, y)


@pytest.mark.parametrize("method", ["retrain", "certified"])
def test_published_steps_come_to_the_same_errors_in_more_steps(method):
    X, y = two_classes(np.random.default_rng(11), 24, 3)
    gram, options = Gram(X, Linear()), {"method": method, "tol": 1e-3, "efficiency_test": 0}
    helped = leave_one_out(gram, y, 1e4, **options)
    published = leave_one_out(gram, y, 1e4, **options, as_published=True)
    decision = brute_force(gram, y, 1e4)
    assert_same_errors(published, decision, y)
    assert published.n_not_converged == 0 and published.n_iter > 2 * helped.n_iter
    # no step but SMO's is left, so that a limit on them is kept
    short = leave_one_out(gram, y, 1e4, **options, as_published=True, max_iter=1000)
    assert short.n_not_converged > 0
    assert short.n_iter <= 1000 * (1 + np.count_nonzero(short.solution.alpha))
    with pytest.raises(ValueError, match=r"as_published=True\b.* 'unlearn'"):
        leave_one_out(gram, y, 1.0, as_published=True)


def add(f, d, columns, fused):
    """Return f + d * columns; a `fused` product and sum are rounded once."""
    return np.float64(f + (np.longdouble(d) if fused else d) * columns)


def published_smo(K, y, C, theta, f, tol, fused):
    """Return theta, its gradient f, and the number of columns that SMO with the most violating pair asks for,
    as the first author's solver has it."""
    theta, lo, hi, columns = theta.copy(), np.minimum(0, y * C), np.maximum(0, y * C), 0
    while True:
        up, low = np.where(theta < hi, f, np.inf), np.where(theta > lo, f, -np.inf)
        i, j = up.argmin(), low.argmax()
        if low[j] - up[i] <= tol:
            return theta, f, columns
        d = min((f[j] - f[i]) / (K[i, i] + K[j, j] - 2 * K[i, j]), hi[i] - theta[i], theta[j] - lo[j])
        theta[i], theta[j] = min(theta[i] + d, hi[i]), max(theta[j] - d, lo[j])
        f = add(f, d, K[i] - K[j], fused)
        columns += 2


def published_loo(K, y, C, tol, fused):
    """Return alpha of all points, the left-out decision value of each point, the columns of all points, and
    those of each, whose variable is handed to the rows in their order."""
    m = y.size
    full, f_full, columns = published_smo(K, y, np.full(m, C), np.zeros(m), -y, tol, fused)
    decision, counts = np.empty(m), np.ones(m, dtype=int)  # the column of r itself
    for r in range(m):
        bound = np.where(np.arange(m) == r, 0.0, C)
        lo, hi = np.minimum(0, y * bound), np.maximum(0, y * bound)
        theta, rest, f = full.copy(), full[r], add(f_full, -full[r], K[r], fused)
        theta[r] = 0
        for t in range(m):
            step = np.clip(rest, lo[t] - theta[t], hi[t] - theta[t])
            if step != 0:
                theta[t], rest, f = theta[t] + step, rest - step, add(f, step, K[t], fused)
                counts[r] += 1
        theta, f, count = published_smo(K, y, bound, theta, f, tol, fused)
        inbound = (theta > lo) & (theta < hi)
        decision[r] = (f + y)[r] - f[inbound].mean()
        counts[r] += count
    return full * y, decision, columns, counts


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5)])
def test_published_steps_are_those_of_a_plain_loop(kernel):
    """Round-off chooses among points that tie: steps are the same for all points, whose products round as
    those of the processor, and as many for those that are left out."""
    X, y = two_classes(np.random.default_rng(5), 60, 2)
    gram = Gram(X, kernel)
    loo = leave_one_out(gram, y, 2.0, method="retrain", tol=1e-3, as_published=True)
    solved = loo.resolved_by == "retrained"
    assert solved.sum() > 5
    plain = [published_loo(gram.matrix(), y, 2.0, 1e-3, fused) for fused in (True, False)]
    alpha, decision, columns, counts = next(loop for loop in plain if loop[2] == 2 * loo.solution.n_iter)
    assert loo.solution.alpha == pytest.approx(alpha, abs=1e-9)
    assert loo.columns_requested == pytest.approx(columns + counts[solved].sum(), rel=0.05)
    assert loo.decision[solved] == pytest.approx(decision[solved], abs=2e-3)


@pytest.mark.parametrize("decision_values", [False, True])
@pytest.mark.parametrize("most", [0, 3, 20, 60, 1000])
def test_what_is_hopeless_is_given_up(decision_values, most):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    X[:20] = X[20:40]  # duplicates
    gram, told = Gram(X, RBF(3.0)), []

    def give_up(errors):
        told.append(errors.copy())
        return errors.sum() > most

    whole = leave_one_out(gram, y, 5.0, decision_values=decision_values)
    result = leave_one_out(gram, y, 5.0, decision_values=decision_values, give_up=give_up)
    # what is known to be an error is one, and ever more are known
    for before, after in pairwise([*told, whole.errors]):
        assert not (before & ~after).any()
    assert result.given_up == (whole.errors.sum() > most) == (told[-1].sum() > most)
    assert not (result.errors & ~whole.errors).any()
    if result.given_up:
        assert result.errors.sum() > most and (result.resolved_by == "").any()
        assert result.error < whole.error or most == 60
    else:
        np.testing.assert_array_equal(result.errors, whole.errors)
        np.testing.assert_allclose(np.sign(result.decision), np.sign(whole.decision))
    assert not whole.given_up
    with pytest.raises(ValueError, match=r"give_up\b.* 'retrain'"):
        leave_one_out(gram, y, 5.0, method="retrain", give_up=give_up)


def noisy(m=300):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(m, 3))
    y = np.where(X[:, 0] + rng.normal(size=m) > 0, 1.0, -1.0)
    return Gram(X, RBF(3.0)), y


@pytest.mark.parametrize("method", METHODS)
def test_a_sample_is_decided_as_all_are(method):
    gram, y = noisy()
    whole = leave_one_out(gram, y, 5.0, method=method)
    result = leave_one_out(gram, y, 5.0, method=method, sample=40, rng=1)
    other = leave_one_out(gram, y, 5.0, method="certified", sample=40, rng=1)
    checked = np.char.startswith(whole.resolved_by, "check")
    unresolved = int(np.count_nonzero(~checked))
    drawn = result.stands_for > 1
    assert unresolved > 100 and drawn.sum() == result.n_solved == 40
    np.testing.assert_array_equal(drawn, other.stands_for > 1)
    np.testing.assert_array_equal(result.errors[checked | drawn], whole.errors[checked | drawn])
    assert not result.errors[~(checked | drawn)].any() and not result.given_up
    assert (result.resolved_by[~(checked | drawn)] == "").all()
    share = result.errors[drawn].mean()
    expected = (whole.errors[checked].sum() + unresolved * share) / y.size
    assert result.error == pytest.approx(expected) and result.stands_for.sum() == pytest.approx(y.size)
    variance = (1 - 40 / unresolved) * share * (1 - share) / 39
    assert result.standard_error == pytest.approx(unresolved / y.size * np.sqrt(variance))
    weight = np.where(y > 0, 3.0, 1.0)
    counted = np.where(checked, 1.0, drawn * unresolved / 40)
    expected = (weight * counted)[result.errors].sum() / (weight * counted).sum()
    assert result.weighted_error(weight) == pytest.approx(expected)
    # few points are decided by steps, which ask for more columns of the stored matrix than paths do
    assert result.cpu_s > 0 and result.kernel_values <= whole.kernel_values
    assert method == "unlearn" or result.columns_requested <= whole.columns_requested


def test_estimates_from_samples_scatter_about_the_error_as_they_say():
    gram, y = noisy()
    whole = leave_one_out(gram, y, 5.0)
    results = [leave_one_out(gram, y, 5.0, sample=40, rng=seed) for seed in range(100)]
    estimates = np.array([one.error for one in results])
    said = np.sqrt(np.mean([one.standard_error**2 for one in results]))
    assert abs(estimates.mean() - whole.error) < 4 * said / 10
    assert 0.7 * said < estimates.std() < 1.4 * said


@pytest.mark.parametrize("sample", [1, 10_000])
def test_samples_of_one_point_and_of_all(sample):
    gram, y = noisy(60)
    whole = leave_one_out(gram, y, 5.0)
    result = leave_one_out(gram, y, 5.0, sample=sample)
    assert whole.n_solved > 1 and whole.standard_error == 0
    if sample == 1:
        assert result.n_solved == 1 and np.isnan(result.standard_error)
    else:
        np.testing.assert_array_equal(result.errors, whole.errors)
        assert (result.error, result.standard_error) == (whole.error, 0.0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sample": 0}, r"sample\b.* 0\b"),
        ({"sample": 2.5}, r"sample\b.* 2.5\b"),
        ({"sample": 3, "decision_values": True}, r"decision_values=True\b.*sample"),
    ],
)
def test_samples_that_cannot_be(options, sentence):
    gram, y = noisy(20)
    with pytest.raises(ValueError, match=sentence):
        leave_one_out(gram, y, 1.0, **options)
