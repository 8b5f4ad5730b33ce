"""The routes, a module for each subject; each translates and decides nothing."""
