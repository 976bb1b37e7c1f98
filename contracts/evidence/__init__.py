"""What coverage, decisions and absence mean."""
