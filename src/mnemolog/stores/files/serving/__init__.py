"""What a server keeps in a root beside the logs: its tokens, its jobs, the settings it changes."""
