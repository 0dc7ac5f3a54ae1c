"""``python -m svmselect.cli``."""

import sys

from svmselect.cli import main

sys.exit(main())
