"""Solvers of the dual problem.

`_state` has the variables, gradient, boxes and index sets, and bounds of their round-off. `_smo` takes SMO
steps on it, for C-SVC and nu-SVC, `_blocked` by blocks of rows where `blocks` chooses them, and `_path` for
increasing C. `_active_set` calls SMO and, where that creeps, solves linear systems on a basis of in-bound
rows. All passes over memory are in `_vec.c`. `feasible` has feasible points to start from. `svmselect.svm` is
the interface: a problem in, a solution out.
"""
