"""What the store knows about watched sites besides their settings."""
