"""Calls in what a model generated while it is trained: token ids in, messages out, where verl and TRL
ask for them."""
