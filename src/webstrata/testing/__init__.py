"""Shipped fakes and contracts: what any store, archive or policy must pass, for ours and for yours."""
