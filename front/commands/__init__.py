"""The commands, one module each; ``cli`` loads a module when its command is called."""
