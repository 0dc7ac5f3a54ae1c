"""What the scripts of Wen et al. (2017) share."""
