"""Weights of mnemolog's embedder `full`; mnemolog finds them by themselves and imports nothing."""
