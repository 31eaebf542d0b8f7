"""`python -m quizkit`, and the `quizkit` command."""

import sys

from quizkit.interrupt import at_once, over


def main() -> None:
    """Hand over to the front door, and leave with its exit code."""
    with at_once():
        from quizkit.cli.app import buffer_output, run
    buffer_output()
    code = run()
    over()
    sys.exit(code)


if __name__ == "__main__":
    main()
