"""The models of a search: its grid, and which of them share a kernel."""

import numbers
from collections.abc import Mapping

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler

from svmselect.path import check_values
from svmselect.sklearn.kernels import Precomputed, is_precomputed, kernel_of, resolved_gamma
from svmselect.sklearn.one_vs_one import class_weights
from svmselect.sklearn.svr import SVR, Regressor
from svmselect.svr import check_epsilon, spread_of

__all__ = ["DEFAULT", "by_kernel", "candidates_of", "default_grid", "parameters", "value_of"]

KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0")
# The default grid has 64 models around C = 1 and a little below gamma = "scale".
DEFAULT = {"C": tuple(2.0**e for e in range(-3, 12, 2)), "nu": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)}
DEFAULT_EPSILON = 0.1
DEFAULT_GAMMA = tuple(2.0**e for e in range(-10, 5, 2))


def default_grid(template, X, y=None, weight=None):
    """Return the grid where none is given: values of C or nu, and of gamma for named kernels of distances.

    C and epsilon of a regression are in units of the standard deviation of its targets `y`, which count by
    `weight`. For nu-SVR the grid has values of C, for one class of gamma alone.
    """
    kernel, grid = template.kernel, {}
    if isinstance(template, Regressor):
        unit = spread_of(y, np.ones(y.size) if weight is None else weight)
        grid["C"] = [unit * C for C in DEFAULT["C"]]
        if isinstance(template, SVR):
            grid["epsilon"] = [unit * DEFAULT_EPSILON]
    elif _shared_parameter(template) is not None:
        grid[template._formulation] = list(DEFAULT[template._formulation])
    if isinstance(kernel, str) and kernel in ("rbf", "laplacian", "chi2"):
        scale = resolved_gamma("scale", X)
        grid["gamma"] = [scale * factor for factor in DEFAULT_GAMMA]
    return grid


def candidates_of(param_grid, steps, data, n_candidates=None, rng=None):
    """Return the models of a grid as dicts, in scikit-learn's order; raise a ValueError for a bad grid.

    The last of the `steps` has the parameters that the grid does not set; by default the grid is that of this
    step for the rows of `data`. `n_candidates` models are drawn by `rng` from the grid, which may then hold
    distributions; by default all are taken.
    """
    template = steps.model
    name, shared = template._formulation, _shared_parameter(template)
    if param_grid is None:
        grid = default_grid(template, data.X, data.y, data.weight)
        grid = {f"{steps.prefix}{key}": values for key, values in grid.items()}
    else:
        grid = param_grid
    # 1) the models
    if n_candidates is None:
        for part in [grid] if isinstance(grid, Mapping) else grid:
            drawn = [key for key, values in part.items() if hasattr(values, "rvs")]
            if drawn:
                raise ValueError(
                    f"param_grid has a distribution of {drawn[0]!r}: n_candidates says how many to draw"
                )
        candidates = list(ParameterGrid(grid))
    elif isinstance(n_candidates, numbers.Integral) and n_candidates >= 1:
        candidates = list(ParameterSampler(grid, n_candidates, random_state=rng))
    else:
        raise ValueError(f"n_candidates must be an integer >= 1, got {n_candidates!r}")
    # 2) the names of their parameters
    searched = (name, *KERNEL_PARAMETERS, *([] if shared is None else [shared]))
    parts = [steps.split(candidate) for candidate in candidates]
    unknown = {f"{steps.prefix}{key}" for _, model_parameters in parts for key in model_parameters} - {
        f"{steps.prefix}{key}" for key in searched
    }
    known = steps.estimator.get_params() if steps.prefix else {}
    model_name = steps.prefix.removesuffix("__")
    unknown |= {
        key
        for step_parameters, _ in parts
        for key in step_parameters
        if key not in known or key == model_name
    }
    if unknown:
        words = ", ".join(f"{steps.prefix}{key}" for key in searched)
        more = " and parameters of the steps before" if steps else ""
        raise ValueError(f"param_grid may hold {words}{more}, got {sorted(unknown)[0]!r}")
    # 3) their values
    values = check_values(
        [value_of(model_parameters, template) for _, model_parameters in parts],
        f"{steps.prefix}{name} in param_grid",
    )
    if name == "nu" and max(values) > 1:
        raise ValueError(f"{steps.prefix}nu in param_grid must be in (0, 1], got {max(values)}")
    for _, model_parameters in parts:
        if "class_weight" in model_parameters:
            class_weights(model_parameters["class_weight"], data.classes, data.codes)
        elif shared in model_parameters:
            {"epsilon": check_epsilon, "C": lambda C: check_values([C], "C")}[shared](
                model_parameters[shared]
            )
    return candidates


def _shared_parameter(template):
    """Return the name of the parameter that models of a path share besides the kernel, None without one."""
    return getattr(template, "_shared", "class_weight")


def value_of(candidate, template):
    """Return C or nu of a model."""
    return candidate.get(template._formulation, getattr(template, template._formulation))


def by_kernel(candidates, template, X):
    """Return the candidates by kernel, and within a kernel by class weights: pairs of a Kernel and its parts.

    A part is ``(class_weight, numbers)``, the numbers of the candidates with these weights. Candidates of a
    kernel share a Gram matrix; those of the same weights share a path along C.
    """
    groups = {}
    for number, candidate in enumerate(candidates):
        parameters = {name: candidate.get(name, getattr(template, name)) for name in KERNEL_PARAMETERS}
        shared = _shared_parameter(template)
        weight = None if shared is None else candidate.get(shared, getattr(template, shared))
        parts = groups.setdefault(
            "precomputed" if is_precomputed(parameters["kernel"]) else kernel_of(X=X, **parameters), {}
        )
        key = frozenset(weight.items()) if isinstance(weight, dict) else weight
        parts.setdefault(key, (weight, []))[1].append(number)
    return [
        (Precomputed(X) if key == "precomputed" else key, list(parts.values()))
        for key, parts in groups.items()
    ]


def parameters(candidates):
    """Return `params`, and a masked array of each parameter, as columns of `cv_results_`."""
    columns = {"params": candidates}
    for name in sorted({name for candidate in candidates for name in candidate}):
        values = [candidate.get(name) for candidate in candidates]
        given = [name in candidate for candidate in candidates]
        numeric = all(
            isinstance(v, float | int | np.number) for v, has in zip(values, given, strict=True) if has
        )
        column = np.ma.masked_all(len(candidates), dtype=np.float64 if numeric else object)
        for n in np.flatnonzero(given):
            column[n] = values[n]
        columns[f"param_{name}"] = column
    return columns
