"""Reads what a question says, as far as that goes, and holds it against what it claims."""
