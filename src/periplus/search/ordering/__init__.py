"""The list of a query in its order: candidates, copies, hosts, versions, and what readers and the operator prefer."""
