"""What the scripts of Chapelle and Vapnik (1999) share."""
