"""Renderings of what commands give: one registry serves every command."""
