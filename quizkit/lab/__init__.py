"""The airlock to demos/: what there is, and how to run one; torch stays on the other side."""
