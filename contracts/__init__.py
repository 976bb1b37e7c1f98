"""What a number means: contracts, measures, tables, prefixes, definitions, scores. No backend is known here."""
