"""The prover: compares what a question claims with what a run measured."""
