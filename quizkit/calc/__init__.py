"""The sums interviewers ask for: one-line formulas with their sources, and a schedule simulator."""
