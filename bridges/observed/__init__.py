"""Tools that are only watched: called as their own documentation shows, never scored through."""
