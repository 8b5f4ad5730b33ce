"""The HTTP server: the API, the page and the Model Context Protocol behind one door."""
