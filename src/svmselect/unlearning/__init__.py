"""Paths of optimal solutions along which points lose their alpha.

A `tableau` is shared by all paths from one solution. `_paths` follows them, one point or one fold at a time,
each with a small linear system (`_system`), and `_certify` compares their ends with the Gram matrix. `points`
does this for single points: leave-one-out and the exact spans use it. `folds` does it for folds.
"""
