"""The command line: ``python -m sapwood``."""

import os
import signal
import sys

from ._sapwood import _command


def main() -> int:
    sys.stdout.flush()
    # The command says itself what an interrupt leaves behind; Python's handler would only make a note of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _command([b"sapwood", *map(os.fsencode, sys.argv[1:])])


if __name__ == "__main__":
    sys.exit(main())
