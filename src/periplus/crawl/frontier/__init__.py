"""The state that workers share, in the database: addresses, hosts, the journal, and which worker has what."""
