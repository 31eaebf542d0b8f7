"""What is taken along: Anki cards, Markdown, a page to print. The learner's own data is in none."""
