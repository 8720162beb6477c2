"""The real loop over living-web sites made from change histories, compared with the replay of the lab."""
