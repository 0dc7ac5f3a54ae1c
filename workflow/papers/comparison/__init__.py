"""The estimators of the test error on the same models: what the scripts share."""
