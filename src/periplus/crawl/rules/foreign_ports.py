"""Ports that no web page is expected at: a link must not make us talk to a mail server, a database or a printer.

``STANDARD`` is the list of the Fetch standard, which browsers keep. ``SERVICES`` are ports at which databases, caches,
queues and other servers of a machine room usually listen. Many of these speak HTTP, or read a request line as a
command, and trust whoever reaches them: a GET that a stranger chose may change data there.

What is left out: ports at which web servers are common as well (3000, 5000, 8000, 8080, 8443, 8888, 9000, 9090 …), and
everything from 32768 on, where systems hand out ports to anybody. Who does want to crawl such a port of an own site
maps a plain name to it: ``--resolve shelf.example.org=10.0.0.5:9200`` is trusted, since the operator wrote it.
"""

from __future__ import annotations

from typing import Final

STANDARD: Final = (  # https://fetch.spec.whatwg.org/#port-blocking
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
)  # fmt: skip
SERVICES: Final = {
    88: "Kerberos",
    445: "SMB",
    631: "printing, IPP",
    873: "rsync",
    1080: "SOCKS",
    1433: "SQL Server",
    1434: "SQL Server",
    1521: "Oracle",
    1883: "MQTT",
    1900: "SSDP",
    2181: "ZooKeeper",
    2375: "Docker",
    2376: "Docker",
    2379: "etcd",
    2380: "etcd",
    3050: "Firebird",
    3128: "Squid",
    3306: "MySQL and MariaDB",
    3389: "remote desktop",
    4222: "NATS",
    4369: "Erlang",
    5432: "PostgreSQL",
    5433: "PostgreSQL",
    5555: "Android debug bridge",
    5671: "AMQP",
    5672: "AMQP",
    5900: "VNC",
    5901: "VNC",
    5984: "CouchDB",
    5985: "Windows remote management",
    5986: "Windows remote management",
    6333: "Qdrant",
    6334: "Qdrant",
    6379: "Redis, Valkey, Ray",
    6380: "Redis",
    6432: "PgBouncer",
    6443: "Kubernetes",
    6984: "CouchDB",
    7199: "Cassandra",
    7474: "Neo4j",
    7687: "Neo4j",
    7700: "Meilisearch",
    8086: "InfluxDB",
    8091: "Couchbase",
    8123: "ClickHouse",
    8265: "Ray",
    8300: "Consul",
    8301: "Consul",
    8302: "Consul",
    8500: "Consul",
    8529: "ArangoDB",
    8883: "MQTT",
    9009: "ClickHouse",
    9042: "Cassandra",
    9092: "Kafka",
    9093: "Kafka",
    9094: "Kafka",
    9100: "printers that print whatever they are sent",
    9160: "Cassandra",
    9200: "Elasticsearch and OpenSearch",
    9300: "Elasticsearch and OpenSearch",
    9600: "Logstash",
    10250: "Kubernetes, kubelet",
    10255: "Kubernetes, kubelet",
    11210: "Couchbase",
    11211: "memcached",
    15672: "RabbitMQ",
    19530: "Milvus",
    25672: "RabbitMQ",
    26257: "CockroachDB",
    26379: "Redis Sentinel",
    27017: "MongoDB",
    27018: "MongoDB",
    27019: "MongoDB",
    28015: "RethinkDB",
    28017: "MongoDB",
}

_FOREIGN: Final = frozenset(map(str, (*STANDARD, *SERVICES)))


def is_foreign(host: str) -> bool:
    """Whether the port of a host, as it stands in a canonical address, is one of other protocols or services."""
    return ":" in host and host.rpartition(":")[2] in _FOREIGN
