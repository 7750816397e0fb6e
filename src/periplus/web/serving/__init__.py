"""The server around the app: connections, what every request passes through, where searches run, what is counted."""
