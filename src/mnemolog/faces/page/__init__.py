"""The page: plain files, served as they are."""
