"""`toolwire play`: a page on this machine that shows what becomes of a model's text."""
