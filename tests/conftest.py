"""How hard the property tests search: `--hypothesis-profile=fast`, `full` (default) or `explore`."""

from hypothesis import HealthCheck, settings

SLOW_MACHINES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# The first two always search the same examples: a change is judged by itself. `explore` does not.
settings.register_profile("fast", max_examples=8, derandomize=True, **SLOW_MACHINES)
settings.register_profile("full", max_examples=60, derandomize=True, **SLOW_MACHINES)
settings.register_profile("explore", max_examples=1000, **SLOW_MACHINES)
settings.load_profile("full")
