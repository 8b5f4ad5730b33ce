"""The ways in for people; they translate, and decide nothing."""
