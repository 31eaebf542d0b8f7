"""JSON lines in and out: front ends, agents and tests."""
