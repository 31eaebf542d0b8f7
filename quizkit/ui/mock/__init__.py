"""An interview on the screen, and its scorecard."""
