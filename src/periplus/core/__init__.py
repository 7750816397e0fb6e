"""All compiled code: the compiler, what kernels and Python both know of memory, and the kernels by what they do.

Each package here has a door of its own: ``compiler``, ``build``, ``format``, ``retrieval``, ``score``, ``snippets``,
``words`` and ``graph``. Modules of ``layout`` are open to all. ``machine`` is for kernels alone.
"""
