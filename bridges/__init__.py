"""Everything that touches an outside format or library: sources, backends, and the one scoring path."""
