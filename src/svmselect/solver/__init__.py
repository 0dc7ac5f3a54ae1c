"""Solvers of the dual problem.

`_state` has what they all move: variables, gradient, boxes, and what rounding may have done to them. `_smo`
takes SMO steps on it, `_nu` does so within each class, and `_blocked` by blocks of rows. `_active_set` calls
SMO and, where that creeps, solves linear systems on a `_basis` of in-bound rows. All passes over memory are
in `_vec.c`. `feasible` has feasible points to start from. `svmselect.svm` is the face: a problem in, a
solution out.
"""
