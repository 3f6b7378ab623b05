"""The Inside page: a network's units, memory, matches and interventions on one text."""
