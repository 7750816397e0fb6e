"""Hot loops of the index, apart from everything else; a module of this package is imported where a kernel is called."""
