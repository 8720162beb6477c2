"""The living web: recorded sites served over real HTTP as they were at the current time of a clock."""
