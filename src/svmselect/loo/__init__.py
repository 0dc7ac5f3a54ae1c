"""Exact leave-one-out error: `leave_one_out`, its result, and the sufficiency checks."""

from svmselect.loo.leave_one_out import leave_one_out
from svmselect.loo.result import LeaveOneOut
from svmselect.loo.sufficiency import sufficiency_checks

__all__ = ["LeaveOneOut", "leave_one_out", "sufficiency_checks"]
