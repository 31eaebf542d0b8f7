"""Lines of text in and out: pipes, logs and screen readers."""
