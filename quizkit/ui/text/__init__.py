"""Question prose as text for a terminal: Markdown, formulas, code, line breaks."""
