"""Estimates and bounds of the leave-one-out error from a single fit.

`SINGLE_FITS` lists those that estimators and commands compute, each declared beside its function.
"""

from svmselect.bounds.estimate import Estimate, SingleFit
from svmselect.bounds.jaakkola_haussler import JAAKKOLA_HAUSSLER, jaakkola_haussler
from svmselect.bounds.opper_winther import OPPER_WINTHER, OpperWinther, opper_winther
from svmselect.bounds.radius_margin import (
    RADIUS_MARGIN,
    RESCALED_RADIUS_MARGIN,
    RadiusMargin,
    RescaledRadiusMargin,
    radius_margin,
    rescaled_radius_margin,
)
from svmselect.bounds.span_bound import SPAN_BOUND, SpanBound, span_bound
from svmselect.bounds.span_by_qp import span_by_qp
from svmselect.bounds.span_rule import SPAN_RULE, SpanRule, span_rule
from svmselect.bounds.span_svr import SpanRegression, span_estimate_svr
from svmselect.bounds.sphere import Sphere, smallest_enclosing_sphere
from svmselect.bounds.sv_count import SV_COUNT, sv_count
from svmselect.bounds.xi_alpha import XI_ALPHA, xi_alpha

__all__ = [
    "SINGLE_FITS",
    "Estimate",
    "OpperWinther",
    "RadiusMargin",
    "RescaledRadiusMargin",
    "SingleFit",
    "SpanBound",
    "SpanRegression",
    "SpanRule",
    "Sphere",
    "jaakkola_haussler",
    "opper_winther",
    "radius_margin",
    "rescaled_radius_margin",
    "smallest_enclosing_sphere",
    "span_bound",
    "span_by_qp",
    "span_estimate_svr",
    "span_rule",
    "sv_count",
    "xi_alpha",
]

SINGLE_FITS = (
    SPAN_RULE,
    OPPER_WINTHER,
    XI_ALPHA,
    JAAKKOLA_HAUSSLER,
    SV_COUNT,
    SPAN_BOUND,
    RADIUS_MARGIN,
    RESCALED_RADIUS_MARGIN,
)
