"""Grading, memory, what to ask next, and the study session."""
