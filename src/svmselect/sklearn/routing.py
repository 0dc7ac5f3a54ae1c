"""Whether scikit-learn routes metadata."""

from __future__ import annotations

from sklearn import get_config

__all__ = ["routing_enabled"]


def routing_enabled():
    """Whether ``sklearn.set_config(enable_metadata_routing=True)`` holds."""
    return get_config()["enable_metadata_routing"]
