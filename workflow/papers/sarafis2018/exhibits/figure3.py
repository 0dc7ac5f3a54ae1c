"""Figure 3: estimates against C+ and C-.

Two line plots of the share of errors against the binary logarithm of C+ (a) and C- (b): test error, span
rule, cross-validation, xi-alpha bound and leave-one-out.

The data set is named above the panels. The models have class weights; in each panel the other weight is fixed
at the model with the least test error (the first of several). Lower panels: estimate minus test error,
without the bound. A star marks the least test error, squares mark the least value of each estimate. Exact
leave-one-out is not in the paper. Broad grey line: the least test error that Table 2 of the paper prints,
where the paper's star is.
"""

from papers.sarafis2018.exhibits.parameter_curves import draw_parameters, errors_along_parameters
from papers.sarafis2018.grid import CLASS_WEIGHTS

STAGES = ("cells",)
RUN_TIME = "as Table 1"


def tidy(rows, context):
    dataset = context.settings["figures"]["figure3"]
    return errors_along_parameters("figure3", CLASS_WEIGHTS, dataset, rows["cells"])


def figure(tidy, context):
    return draw_parameters(tidy, CLASS_WEIGHTS, context.published)
