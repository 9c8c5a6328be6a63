"""What several chapters use: contrasts of conditions, the encoder of all languages, published numbers, examples."""
