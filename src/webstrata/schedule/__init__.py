"""What visits saw -> when to visit next, and why. Pure, vectorised over pages."""
