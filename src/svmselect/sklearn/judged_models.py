"""The models of a search handed to its judge: kernel by kernel, by jobs or by threads."""

from __future__ import annotations

from contextlib import suppress

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from svmselect.sklearn.candidates import by_kernel
from svmselect.sklearn.judged import Found
from svmselect.sklearn.kernels import gram_of
from svmselect.sklearn.precomputed import Precomputed
from svmselect.sklearn.progress import progress_bar
from svmselect.threads import share_out, thread_count

__all__ = ["judged"]

PASSES = 8  # judging a model takes at least this many passes over the Gram matrix


def judged(judge, candidates, n_jobs, verbose):
    """What a judge finds of models: a Found.

    Parameters
    ----------
    judge : Judge
    candidates : list of dict
    n_jobs : int or None
        Kernels that are worked on at once, by joblib.
    verbose : bool
        Whether to show progress on standard error.
    """
    template = judge.template
    groups = by_kernel(candidates, template, judge.data.X)
    jobs = min(effective_n_jobs(n_jobs), len(groups))
    if jobs > 1:
        parallel = Parallel(n_jobs=n_jobs, verbose=10 if verbose else 0)
        memory = template.cache_size / jobs
        results = parallel(
            delayed(judge.in_a_job)(kernel, parts, candidates, memory) for kernel, parts in groups
        )
    else:
        results = _judged_here(judge, candidates, groups, verbose)
    # one after another: what they find goes into the same arrays
    found = Found(len(candidates), judge.n_splits, judge.n_scores)
    for of_kernel in results:
        for numbers_of, part, places in of_kernel:
            found.take(part, numbers_of, places)
    return found


def _judged_here(judge, candidates, groups, verbose):
    """What the judge finds of each kernel's candidates, in this process: on threads, each with a Gram
    matrix of its own, where there are threads, memory and work for them, else kernel by kernel."""
    memory, results, grams = judge.template.cache_size, [], [None]
    if not any(isinstance(kernel, Precomputed) for kernel, _ in groups):
        # a kernel that is not for these rows fails alone, where its models are judged
        with suppress(ValueError):
            first = gram_of(judge.data.X, groups[0][0], memory)
            grams = first.copies(min(thread_count(), len(groups)))
    with progress_bar(len(groups), verbose) as report:
        if len(grams) > 1:

            def of_group(gram, group):
                results.append(judge.of_kernel(*group, candidates, memory, gram)[0])

            work = PASSES * len(candidates) * first.m**2
            share_out(grams, of_group, groups, work, lambda done, _: report(done))
            return results
        gram = grams[0]
        for done, group in enumerate(groups):
            of_kernel, gram = judge.of_kernel(
                *group, candidates, memory, gram, lambda share, done=done: report(done + share)
            )
            results.append(of_kernel)
            report(done + 1)
    return results
