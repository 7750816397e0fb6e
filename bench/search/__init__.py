"""How long a query takes, from the text typed to ten finished results."""
