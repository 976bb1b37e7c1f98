"""Two sets of numbers held against each other: contract against contract, and later tool against contract."""
