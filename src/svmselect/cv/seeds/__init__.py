"""Seeds of k-fold cross-validation: where the fit without a fold starts.

A seed is a function from a Transition, between two training sets, to a Seed. ATO, MIR and SIR (Wen et al.
2017) start from the solution of the fold before; AVG (DeCoste and Wagstaff 2000) and TOP (Lee et al. 2004)
from that of all points. They are here to reproduce the results of these papers. On a shared Gram matrix a
cold start is rarely slower, and for many folds unlearning is faster (``docs/speed.md``).
"""
