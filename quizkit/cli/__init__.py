"""The front door: names commands and options; the only room that knows every other."""
