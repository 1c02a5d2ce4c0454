"""The one exception that toolwire raises, for what a caller did; model text never raises."""


class ToolwireError(ValueError):
    """A mistake in how toolwire is used. Its message says what to change."""
