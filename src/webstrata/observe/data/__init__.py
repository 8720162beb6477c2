"""Data as data: a body of a data type -> one digest that formatting, order and labels without meaning do not move."""
