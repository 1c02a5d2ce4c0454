"""Showing what a parser does: which character became what, step by step, and the page that draws it."""
