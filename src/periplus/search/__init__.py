"""Search: the query language, plans, execution, snippets, spelling, completion, and the ``Engine`` over them."""

from periplus.search.among import Among
from periplus.search.engine import Engine
from periplus.search.language import read
from periplus.search.plan import Plan, QueryWord, plan
from periplus.search.syntax import Reading

__all__ = ["Among", "Engine", "Plan", "QueryWord", "Reading", "plan", "read"]
