"""The app's components: their browser files, and how numbers travel to them."""
