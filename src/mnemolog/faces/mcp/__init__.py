"""The Model Context Protocol: the tools, the sessions and the prompts, for any client; docs/mcp.md.

Nothing here is imported unless a server is asked for: the protocol's library takes about a second.
"""
