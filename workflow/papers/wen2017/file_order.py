"""A seed on folds that are stratified in the order of the file."""

from svmselect import RBF, Gram, cross_validate, stratified_folds

from lib.cell import error_count
from lib.rows import OK
from papers.wen2017.cells import PLAIN_SMO, status
from papers.wen2017.problem import problem

FILE_ORDER = "stratified, file order"


def run_file_order(job, k, model, seeding, rounds, settings):
    """Run the first folds from a seed, the first of them cold. Kernel values are computed when they are
    needed, in single precision. One row.

    Parameters
    ----------
    job, k, model
        See `papers.wen2017.cells.run_seeds`.
    seeding : str
        A seed of the library.
    rounds : int
    settings : SimpleNamespace
        ``tol``, ``seed`` and ``max_iter``, as there; ``memory_mb`` of the columns that are kept.
    """
    cv_problem = problem(job, k, model, settings)
    job.identity["seed"] = None
    gram = Gram(cv_problem.X, RBF(cv_problem.gamma), dtype="float32", memory_mb=settings.memory_mb)
    folds = stratified_folds(cv_problem.y, int(k), None)
    options = {"tol": settings.tol, "max_iter": settings.max_iter, "rng": settings.seed, **PLAIN_SMO}
    cv = cross_validate(gram, cv_problem.y, cv_problem.C, folds, seeding, rounds=rounds, **options)
    tested = folds < rounds
    return [
        {
            "method": seeding,
            "folds": FILE_ORDER,
            "k": int(k),
            "rounds": rounds,
            "gram_dtype": "float32",
            **error_count(cv.errors[tested]),
            "n_iter": cv.n_iter,
            "round_n_iter": [fold.n_iter for fold in cv.rounds],
            "status": OK,
            **status(cv.n_not_converged),
        }
    ]
