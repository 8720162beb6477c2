"""The pages of a round: what the schedule knows of them, what the budgets pay for, which ones are visited."""
