"""Exact leave-one-out error: `leave_one_out`, its result, and the sufficiency checks."""

from svmselect.loo.leave_one_out import leave_one_out
from svmselect.loo.nu_regression import leave_one_out_nusvr
from svmselect.loo.regression import LeaveOneOutRegression, leave_one_out_svr
from svmselect.loo.rejection import LeaveOneOutOneClass, leave_one_out_one_class
from svmselect.loo.result import LeaveOneOut
from svmselect.loo.sufficiency import sufficiency_checks

__all__ = [
    "LeaveOneOut",
    "LeaveOneOutOneClass",
    "LeaveOneOutRegression",
    "leave_one_out",
    "leave_one_out_nusvr",
    "leave_one_out_one_class",
    "leave_one_out_svr",
    "sufficiency_checks",
]
