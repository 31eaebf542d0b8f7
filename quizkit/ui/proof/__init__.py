"""A proof on the screen: what was said beside what the run measured."""
