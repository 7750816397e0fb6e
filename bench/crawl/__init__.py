"""The crawl benchmark: Periplus and Scrapy on the same local web, counted in CPU time. Run ``make bench-crawl``."""
