"""What an object store costs a crawl."""
