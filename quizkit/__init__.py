"""Interview practice for LLM training infrastructure, where a run proves every answer."""

__version__ = "0.1.0"
