"""Ctrl-C ends every method that runs for long, from within its compiled part."""

import pytest
from interrupts import interrupted

NOISE = """
rng = np.random.default_rng(0)
X, y = rng.normal(size=({m}, 10)), rng.choice([-1.0, 1.0], {m})
z = rng.normal(size={m})
"""


@pytest.mark.parametrize(
    ("m", "method", "running"),
    [
        (400, "solve_csvc(Gram(X, Linear()), y, 1e9, tol=1e-14, active_set=False)", "_smo.Dual.descend"),
        (3000, "solve_csvc(Gram(X, Linear()).compute(), y, 1e9, tol=1e-9)", "_active_set.finish"),
        (12000, "solve_csvc(Gram(X, RBF(0.1)), np.sign(X[:, 0]), 1e6, tol=1e-9)", "_blocked.BlockedDual"),
        (400, "solve_svr(Gram(X, Linear()), z, 1e9, 0.1, tol=1e-14, active_set=False)", "_smo.Dual.descend"),
        (500, "leave_one_out(Gram(X, RBF(0.1)), y, 10.0)", "_paths.PointPaths.walk"),
        (500, "leave_one_out_svr(Gram(X, RBF(0.1)), z, 10.0, 0.1)", "_paths.PointPaths.walk"),
        (500, "cross_validate(Gram(X, RBF(0.1)), y, 10.0, 4, seeding='unlearn')", "unlearn_folds leave"),
    ],
)
def test_ctrl_c_ends_it(m, method, running):
    assert running in " ".join(interrupted(NOISE.format(m=m) + method))
