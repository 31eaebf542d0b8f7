"""Questions: what they are, how they are read, checked and found."""
