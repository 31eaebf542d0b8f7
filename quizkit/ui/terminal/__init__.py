"""A terminal as a screen: keys, typing, and the desk that asks there."""
