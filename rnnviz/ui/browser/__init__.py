"""The app's own components: their browser files, and how numbers travel to them."""
