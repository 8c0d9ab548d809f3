"""What a run's result is worth: validate it, minimise its patch, explain what remains."""
