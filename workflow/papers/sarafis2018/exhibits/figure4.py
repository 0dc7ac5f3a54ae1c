"""Figure 4: estimates against A, B and C.

Three line plots of the share of errors against A, B and log2 C of the instance weights: test error, span
rule, cross-validation, xi-alpha bound and leave-one-out.

The data set is named above the panels. In each panel the other two parameters are fixed at the model with the
least test error (the first of several). Lower panels: estimate minus test error, without the bound. A star
marks the least test error, squares mark the least value of each estimate. Exact leave-one-out is not in the
paper. Broad grey line: the least test error that Table 3 of the paper prints, where the paper's star is.
"""

from papers.sarafis2018.exhibits.parameter_curves import draw_parameters, errors_along_parameters
from papers.sarafis2018.grid import INSTANCE_WEIGHTS

STAGES = ("cells",)
RUN_TIME = "as Table 1"


def tidy(rows, context):
    dataset = context.settings["figures"]["figure4"]
    return errors_along_parameters("figure4", INSTANCE_WEIGHTS, dataset, rows["cells"])


def figure(tidy, context):
    return draw_parameters(tidy, INSTANCE_WEIGHTS, context.published)
