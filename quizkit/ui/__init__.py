"""The terminal: screens, keys, pictures."""
