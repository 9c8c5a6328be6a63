"""The command ``xling``: reads what was typed, calls the room that does it, prints what comes back."""

import sys


def xling() -> None:
    """The command. What it needs is imported here, so that an interrupt meanwhile ends it as one later does."""
    try:
        from xling_utils.cli.main import main

        main()
    except KeyboardInterrupt:
        print("xling: interrupted", file=sys.stderr)
        sys.exit(130)
