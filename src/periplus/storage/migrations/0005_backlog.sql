-- pending is 2 where the crawl left a page's document to be made later, from the archive; read in the archive's order.
CREATE INDEX urls_backlog ON urls (file, place) WHERE pending = 2;
