"""The checks find wrong answers: each method with an answer that is a little off."""

from dataclasses import replace

import numpy as np
import pytest
from fuzz import estimates, faces, methods
from fuzz.cases import CORPUS, Case, cases
from fuzz.checks import Wrong
from fuzz.truth import Truth
from hypothesis import HealthCheck, Phase, given, settings

from svmselect.gram import rows
from svmselect.loo import sufficiency


def off(**changes):
    """A function with fields of its result changed by functions of their values."""

    def tampered(function):
        def call(*arguments, **options):
            result = function(*arguments, **options)
            return replace(result, **{key: change(getattr(result, key)) for key, change in changes.items()})

        return call

    return tampered


def shifted(values):
    return values + 1e-3 * (1 + np.abs(values))


def one_flipped(errors):
    errors = errors.copy()
    errors[0] = not errors[0]
    return errors


def longer(spans):
    return np.where(np.isfinite(spans), spans * 1.01 + 1e-3, spans)


def unbalanced(alpha):
    alpha = alpha.copy()
    alpha[np.argmax(alpha)] *= 1 - 1e-11
    return alpha


def given_up(function):
    """Every fold did not converge, it says."""

    def call(*arguments, **options):
        result = function(*arguments, **options)
        return replace(result, rounds=tuple(replace(fit, converged=False) for fit in result.rounds))

    return call


def largest_everywhere(spans):
    return np.where(np.isfinite(spans), spans[np.isfinite(spans)].max(initial=0), spans)


def without_first(function):
    return lambda *arguments, **options: function(*arguments, **options)[1:]


def without_first_of_a_class(function):
    return lambda X, y, seed: function(X, y, seed=seed)[int(y[0] > 0) :]


WRONG = [
    ("csvc", methods, "solve_csvc", off(alpha=lambda alpha: alpha * (1 - 1e-3))),
    ("csvc", methods, "solve_csvc", off(decision=lambda f: np.append(f[:-1], f[-1] + 1e-3))),
    ("csvc", methods, "solve_csvc", off(decision=shifted)),
    ("csvc", methods, "solve_csvc", off(kkt_gap=lambda gap: gap + 1e-3)),
    ("csvc", methods, "solve_csvc", off(objective=shifted)),
    ("csvc", methods, "solve_csvc", off(converged=lambda converged: False)),
    ("csvc", methods, "solve_csvc", off(alpha=unbalanced)),
    ("csvc", methods, "solve_csvc", off(b=shifted)),
    ("csvc with rows left out", methods, "solve_csvc", off(C=lambda C: np.where(C > 0, C, 1.0))),
    ("nusvc", methods, "solve_nusvc", off(alpha=lambda alpha: alpha * (1 - 1e-6))),
    ("decision function", methods, "decision_function", lambda f: lambda *given: shifted(f(*given))),
    ("leave-one-out unlearn", methods, "leave_one_out", off(errors=one_flipped, error=lambda e: e)),
    ("leave-one-out unlearn", methods, "leave_one_out", off(errors=np.logical_not, error=lambda e: 1 - e)),
    ("leave-one-out unlearn", methods, "leave_one_out", off(decision=shifted)),
    (
        "leave-one-out unlearn",
        methods,
        "leave_one_out",
        off(not_converged=lambda rows: np.arange(100)),
    ),
    ("leave-one-out retrain", methods, "leave_one_out", off(errors=np.logical_not, error=lambda e: 1 - e)),
    ("cross-validation cold", methods, "cross_validate", off(decision=np.negative, errors=np.logical_not)),
    ("cross-validation cold", methods, "cross_validate", given_up),
    ("cross-validation ato", methods, "cross_validate", given_up),
    ("grid", methods, "cross_validate_grid", off(errors=lambda errors: errors + 1)),
    ("spans", estimates, "span_rule", off(squared_span=longer)),
    ("spans", estimates, "span_rule", off(errors=np.logical_not, error=lambda e: 1 - e)),
    ("spans", estimates, "opper_winther", off(squared_distance=longer)),
    ("counts", estimates, "sv_count", off(errors=one_flipped)),
    ("counts", estimates, "jaakkola_haussler", off(errors=np.logical_not, error=lambda e: 1 - e)),
    ("counts", estimates, "xi_alpha", off(errors=np.logical_not, error=lambda e: 1 - e)),
    ("sphere", estimates, "smallest_enclosing_sphere", off(squared_radius=lambda r: r * 1.01)),
    ("sphere", estimates, "radius_margin", off(squared_norm=lambda norm: norm * 1.01)),
    ("spans in the box", estimates, "span_bound", off(bound=shifted)),
    ("spans in the box", estimates, "span_bound", off(squared_span=longer)),
    ("rescaled radius-margin", estimates, "rescaled_radius_margin", off(bound=shifted)),
    ("condense", faces, "condense", without_first),
    ("multiedit", faces, "multiedit", without_first_of_a_class),
    (
        "bagging",
        faces,
        "bagging",
        off(svms=lambda svms: tuple(replace(s, theta=s.theta * 0.99) for s in svms)),
    ),
    ("cross-training", faces, "cross_training", off(mean=shifted)),
]


OF_SOME_ROWS = [
    ("offset", "csvc", rows, "far_origin", lambda function: lambda X: None),
    ("offset", "csvc", rows, "far_origin", lambda function: lambda X: X[0] + np.ptp(X, axis=0) * 4),
    ("one row is far", "csvc", methods, "solve_csvc", off(objective=lambda value: value * (1 + 1e-9))),
    ("one row is far", "spans", estimates, "span_rule", off(squared_span=largest_everywhere)),
    ("one row is far", "spans", estimates, "opper_winther", off(squared_distance=largest_everywhere)),
]


def check_found(method, **drawn):
    @settings(
        max_examples=30,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(method, **drawn))
    def check(case):
        case.check()

    with pytest.raises(Wrong):
        check()


@pytest.mark.parametrize(
    ("method", "module", "name", "wrong"), WRONG, ids=[f"{w[0]}-{w[2]}-{k}" for k, w in enumerate(WRONG)]
)
def test_wrong_answers_are_found(monkeypatch, method, module, name, wrong):
    monkeypatch.setattr(module, name, wrong(getattr(module, name)))
    check_found(method, ways=("as it is", "permuted rows", "swapped labels"))


@pytest.mark.parametrize(
    ("kind", "method", "module", "name", "wrong"),
    OF_SOME_ROWS,
    ids=[f"{w[0]}-{w[1]}-{w[3]}-{k}" for k, w in enumerate(OF_SOME_ROWS)],
)
def test_wrong_answers_are_found_for_some_rows(monkeypatch, kind, method, module, name, wrong):
    monkeypatch.setattr(module, name, wrong(getattr(module, name)))
    check_found(method, ways=("as it is",), kinds=(kind,))


def test_the_optimum_beside_a_far_row_is_known():
    """Alphas up to 1e10 in the float64 that solvers have: within a billionth, whoever made them."""
    case = Case.read(CORPUS / "cross-validation-ato-swapped-labels-83e713cd.json")
    truth, C = Truth(case.problem), case.problem.C * (np.arange(case.problem.m) != 4)
    best = truth.reference(C).best
    assert best.max() > 1e9
    theta = truth.y * best
    value = best.sum() - theta @ truth.K @ theta / 2
    assert 0 <= truth.gap(best, C, exact=True) <= 1e-9 * value


@pytest.mark.parametrize("method", ["unlearn", "certified", "retrain"])
def test_a_threshold_of_the_interval_that_is_not_its_middle_is_found(monkeypatch, method):
    """Check 3 with room for just alpha proves the sign of another threshold."""
    case = Case.read(CORPUS / f"leave-one-out-{method}-as-it-is-midpoint.json")
    case.check()
    monkeypatch.setattr(sufficiency, "ROUNDING_OF_ROOM", -1e-9)
    with pytest.raises(Wrong, match="retraining"):
        case.check()
