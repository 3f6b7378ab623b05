"""What is said of a scored text: where its bits lie, how sure the figure is, against what."""
