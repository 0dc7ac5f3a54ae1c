"""What the scripts of Sarafis, Diou and Delopoulos (2018) share."""
