"""Around the pages: who may come in, and what is given back when they have left."""
