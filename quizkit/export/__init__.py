"""Files to take along: Anki cards, Markdown, a page to print; the learner's data is in none."""
