"""The index: derived from the logs, deletable at any time, identical when it comes back."""
