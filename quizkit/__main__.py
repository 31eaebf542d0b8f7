"""`python -m quizkit`, and the `quizkit` command."""


def main() -> None:
    """Hand over to the front door."""
    from quizkit.cli.app import main as run

    run()


if __name__ == "__main__":
    main()
