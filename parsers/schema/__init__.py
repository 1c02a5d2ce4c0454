"""The caller's tools and their JSON Schemas: what values a parameter may have."""
