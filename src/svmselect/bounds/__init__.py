"""Estimates and bounds of the leave-one-out error from a single fit."""

from svmselect.bounds.estimate import Estimate, SingleFit
from svmselect.bounds.jaakkola_haussler import jaakkola_haussler
from svmselect.bounds.opper_winther import OpperWinther, opper_winther
from svmselect.bounds.radius_margin import (
    RadiusMargin,
    RescaledRadiusMargin,
    radius_margin,
    rescaled_radius_margin,
)
from svmselect.bounds.span_bound import SpanBound, span_bound
from svmselect.bounds.span_by_qp import span_by_qp
from svmselect.bounds.span_rule import SpanRule, span_rule
from svmselect.bounds.span_svr import SpanRegression, span_estimate_svr
from svmselect.bounds.sphere import Sphere, smallest_enclosing_sphere
from svmselect.bounds.sv_count import sv_count
from svmselect.bounds.table import SINGLE_FITS
from svmselect.bounds.xi_alpha import xi_alpha

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
