"""Paths of optimal solutions along which points are unlearned.

A `tableau` is what all paths from one solution share. `_paths` follows them, one point or one fold at a
time, each with a linear system of its own (`_system`), and `_ends` holds what they say against the Gram
matrix. `start` does this for single points: leave-one-out and the exact spans use it. Folds
(`svmselect.unlearning.folds`) use the paths themselves.
"""
