"""HTTP/1.1 client: connections, requests, limits and the address guard."""
