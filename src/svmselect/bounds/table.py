"""List of the estimates of the leave-one-out error from one fit, each declared beside its function."""

from svmselect.bounds.jaakkola_haussler import JAAKKOLA_HAUSSLER
from svmselect.bounds.opper_winther import OPPER_WINTHER
from svmselect.bounds.radius_margin import RADIUS_MARGIN, RESCALED_RADIUS_MARGIN
from svmselect.bounds.span_bound import SPAN_BOUND
from svmselect.bounds.span_rule import SPAN_RULE
from svmselect.bounds.sv_count import SV_COUNT
from svmselect.bounds.xi_alpha import XI_ALPHA

__all__ = ["SINGLE_FITS"]

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
