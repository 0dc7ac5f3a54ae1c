"""Ctrl-C that comes while a solver runs, whatever the speed of the machine, in a process of its own."""

import subprocess
import sys

# The solver's first look for Ctrl-C raises SIGINT in C: no line of Python runs before the solver goes on.
INTERRUPTED = """
import ctypes, signal, sys, traceback
from functools import partial
from itertools import chain
import numpy as np
from svmselect import *
from svmselect.solver import _smo
from svmselect.unlearning import _paths

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
raised = map(ctypes.PyDLL(None)["raise"], [signal.SIGINT])
for module in (_smo, _paths):
    module.check_interrupted = partial(next, chain(raised, iter(module.check_interrupted, "never")))
try:
    exec(compile(sys.argv[1], "code", "exec"))
except KeyboardInterrupt as error:
    print(*(frame.name for frame in traceback.extract_tb(error.__traceback__)))
else:
    sys.exit("it ended without a look for Ctrl-C")
"""


def interrupted(code):
    """Run code in a process that gets SIGINT when a solver first looks for it; return the functions that
    KeyboardInterrupt left, innermost last. The code finds everything of svmselect, and NumPy as np."""
    command = [sys.executable, "-c", INTERRUPTED, code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()
