"""Weights of mnemolog's embedder `small`; mnemolog finds them by themselves and imports nothing."""
