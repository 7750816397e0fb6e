"""What it costs a crawl that pages are read in a process of their own."""
