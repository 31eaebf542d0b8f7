"""Where the shelves, the laboratory and the user's own files are; nothing else knows a path."""

import os
from pathlib import Path

from quizkit.errors import DiaryError

_PACKAGE = Path(__file__).parent
_SHIPPED = _PACKAGE / "_content"
# In a wheel the content lies inside the package; in a checkout it lies beside it.
_ROOT = _SHIPPED if _SHIPPED.is_dir() else _PACKAGE.parent

QUESTIONS = _ROOT / "questions"
DEMOS = _ROOT / "demos"
RECORD = DEMOS / "_record"


def home() -> Path:
    """The user's folder, made private: `$QUIZKIT_HOME`, else the platform's data directory."""
    chosen = os.environ.get("QUIZKIT_HOME")
    if chosen:
        try:
            folder = Path(chosen).expanduser()
        except RuntimeError as error:
            raise DiaryError("home", folder=chosen, reason=str(error).rstrip(".")) from error
    else:
        from platformdirs import user_data_path

        folder = user_data_path("quizkit")
    try:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise DiaryError("home", folder=folder, reason=error.strerror or str(error)) from error
    return folder


def diary_file() -> Path:
    """The learner's answers."""
    return home() / "diary.sqlite3"


def config_file() -> Path:
    """The learner's settings, YAML."""
    return home() / "config.yaml"


def cache_folder() -> Path | None:
    """Where what can be made again is kept: `$QUIZKIT_CACHE`, else in the user's folder, else None.

    Without a place for it everything works as well, and starts more slowly.
    """
    try:
        if chosen := os.environ.get("QUIZKIT_CACHE"):
            folder = Path(chosen)
        elif os.environ.get("QUIZKIT_HOME"):
            folder = home() / "cache"
        else:
            from platformdirs import user_cache_path

            folder = user_cache_path("quizkit")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, DiaryError):
        return None
    return folder
