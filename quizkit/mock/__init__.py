"""The interview: its scripts, its clock, its scorecard."""
