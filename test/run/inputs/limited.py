"""Runs a command that may write no file of more than LIMIT bytes, as after `ulimit -f`.

usage: limited.py LIMIT COMMAND…
"""

import os
import resource
import signal
import sys

limit = int(sys.argv[1])
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, a shell does not
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
os.execvp(sys.argv[2], sys.argv[2:])
