-- kind 3 of urls is the small picture of a host; asked for by host with every page of results.
CREATE INDEX urls_icons ON urls (host) WHERE kind = 3;
