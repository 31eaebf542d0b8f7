"""One page of the screen each, and the parts they are made of."""
