"""What leaves a root and comes into one whole: exports in our own form, backups, migration."""
