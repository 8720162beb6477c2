"""Living web: recorded sites served over real HTTP as they were at any moment of the clock."""
