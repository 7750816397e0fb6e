"""From a query to hits, over the segments of one generation: what is asked, the plan, lists and their kernels."""
