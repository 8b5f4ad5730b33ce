"""The graph: Markdown documents in folders, their links, versions and proposals."""
