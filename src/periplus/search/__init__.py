"""Search: the query language, plans, execution, snippets, spelling, completion, and the ``Engine`` over them."""

from periplus.search.engine import Engine
from periplus.search.language import read
from periplus.search.plan import QueryPlan, QueryWord, plan
from periplus.search.syntax import ParsedQuery

__all__ = ["Engine", "ParsedQuery", "QueryPlan", "QueryWord", "plan", "read"]
