# The same verbs by hand and in CI.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)

VENV ?= .venv
PYTHON = $(VENV)/bin/python
# Two cores, one file of tests on one of them.
PYTEST_FLAGS ?= -n 2 --dist loadfile

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

environment:
	@PERIPLUS_VENV=$(abspath $(VENV)) scripts/environment dev

test: environment  ## install what the tests need and run them all
	@scripts/components
	$(PYTHON) -m pytest $(PYTEST_FLAGS) --durations=20

test-cluster: environment  ## three machines with Ray, PostgreSQL and an S3 server, in a network of their own
	@scripts/components
	scripts/own-network $(PYTHON) -m pytest -m cluster -n 0 tests/cluster $(ARGS)
	scripts/own-network $(PYTHON) -m pytest -m cluster -n 0 tests/cluster_ray

coverage: environment  ## which lines the tests run, by room; htmlcov/ has the pages; ARGS="tests/web"
	$(VENV)/bin/coverage erase
	$(VENV)/bin/coverage run -m pytest -n 0 $(ARGS)
	-$(VENV)/bin/coverage combine -q
	$(VENV)/bin/coverage html -q
	$(VENV)/bin/coverage report --skip-covered --sort=cover

dist: environment  ## wheel, source package, checksums and SBOM into dist/, and the wheel tried in a new environment
	PERIPLUS_VENV=$(abspath $(VENV)) scripts/dist

lint: environment  ## style, types and the order of the rooms
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache
	$(PYTHON) scripts/licences.py
	$(PYTHON) scripts/audit.py

format: environment  ## let ruff write the layout
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

docs: environment  ## the reference pages anew, and all of docs/ as a site below build/site; ARGS="--search http://127.0.0.1:8080"
	$(PYTHON) scripts/reference.py
	$(PYTHON) scripts/site.py build/site $(ARGS)

screenshots: environment  ## the pictures of docs/screenshots.md anew, by Chromium; ARGS=FOLDER writes them elsewhere
	PYTHONPATH=tests $(PYTHON) scripts/screenshots.py $(ARGS)

lock:  ## resolve the newest allowed versions into requirements/*.lock (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		pyproject.toml requirements/build.in -o requirements/base.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		pyproject.toml requirements/build.in --extra dev --extra cluster -c requirements/base.lock -o requirements/dev.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		pyproject.toml requirements/build.in --extra cluster -c requirements/dev.lock -o requirements/cluster.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		pyproject.toml requirements/build.in requirements/bench.in -c requirements/base.lock -o requirements/bench.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		pyproject.toml requirements/build.in requirements/research.in --extra research -c requirements/dev.lock -o requirements/research.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		requirements/fuzz.in -o requirements/fuzz.lock

relevance: environment  ## every profile on every judged set, into docs/relevance.md; ARGS="--web FOLDER" adds known items
	$(PYTHON) -m bench.relevance $(ARGS)

research:  ## PyTerrier, ir_datasets, py-wacz and the notebook's table, in an environment of their own
	@PERIPLUS_VENV=$(abspath .venv-research) scripts/environment research
	.venv-research/bin/python -m pytest -n 0 tests/evaluation/test_evaluation_bridges.py \
		tests/evaluation/test_evaluation_notebook.py tests/archive/test_archive_wacz.py

bench:  ## the benchmarks there are (bench/README.md)
	@grep -hE '^bench-[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

bench-environment:
	@PERIPLUS_VENV=$(abspath .venv-bench) scripts/environment bench

plain-environment:
	@PERIPLUS_VENV=$(abspath .venv-plain) scripts/environment base

bench-crawl: bench-environment plain-environment  ## pages a CPU-second, Periplus against Scrapy on a local web; ARGS="--quick"
	.venv-bench/bin/python -m bench.crawl $(ARGS)

bench-extract: bench-environment  ## main text of pages labelled by hand, against trafilatura, resiliparse and jusText
	.venv-bench/bin/python -m bench.extract $(ARGS)

bench-articles: bench-environment  ## main text of news and blog pages beside trafilatura; ARGS="--half tuning --ablations"
	.venv-bench/bin/python -m bench.extract.articles $(ARGS)

bench-index: bench-environment  ## building and asking the index, against PISA, tantivy and bm25s; ARGS="--web FOLDER"
	.venv-bench/bin/python -m bench.index $(ARGS)

bench-live: bench-environment  ## WARC files to a searchable index, and searches while it grows; ARGS="--web FOLDER --documents FILE"
	.venv-bench/bin/python -m bench.live $(ARGS)

bench-scale: environment  ## 250,000 to 2 million documents: speed, memory, disk and searches; ARGS="--passages FILE --sizes 20000"
	$(PYTHON) -m bench.scale $(ARGS)

bench-objects: environment  ## what an object store costs a crawl: the same pages with files in the folder and in S3; ARGS="--pages 1000"
	$(PYTHON) -m bench.objects $(ARGS)

bench-export-sql: environment  ## export to PostgreSQL over one connection and over several, in turns; ARGS="--documents 20000"
	$(PYTHON) -m bench.sql $(ARGS)

bench-reshard: environment  ## what shards cost the writer: index, update and reshard; ARGS="--passages FILE"
	$(PYTHON) -m bench.reshard $(ARGS)

voyage: environment  ## half a million generated pages crawled, indexed, ranked, searched; ARGS="--passages FILE --pages 30000 --write"
	$(PYTHON) -m bench.voyage $(ARGS)

bench-apart: environment  ## what it costs a crawl that pages are read in a process of their own; ARGS="--web FOLDER --pages 2500"
	$(PYTHON) -m bench.apart $(ARGS)

bench-apart-imports: environment  ## an import by this tree and an earlier one, in turns; ARGS="--before TREE --web FOLDER --pages 2500"
	$(PYTHON) -m bench.apart.imports $(ARGS)

bench-hostile: environment  ## what healthy hosts keep of their rate beside fifty hostile ones; ARGS="--each"
	$(PYTHON) -m bench.hostile $(ARGS)

soak-crash: environment  ## a hundred kills at random moments of a crawl of a web with faults
	$(PYTHON) tests/crawl/crash_soak.py $(ARGS)

soak-pool: environment  ## fifty crawls with a limit by two to four workers, killed on the way: each exact
	$(PYTHON) tests/crawl/pool_soak.py $(ARGS)

soak-up: environment  ## an hour of up over sites that change, with visitors: memory, handles, files; ARGS="--minutes 5 --visitors 200"
	PYTHONPATH=.:tests $(PYTHON) tests/app/up_soak.py $(ARGS)

soak-month: environment  ## a month of up on a clock that runs ten times as fast and leaps: what grows; ARGS="--days 3 --write"
	PYTHONPATH=.:tests $(PYTHON) tests/app/month_soak.py $(ARGS)

soak-freshness: environment  ## 24 simulated hours of revisits beside a fixed interval with as many requests; ARGS="--seed 2 --write"
	PYTHONPATH=tests $(PYTHON) tests/crawl/freshness_sim.py $(ARGS)

soak-server: environment  ## attacks on a server with 1,024 handles while another client searches; ARGS="--seconds 5"
	$(PYTHON) tests/web/server_soak.py $(ARGS)

soak-damage: environment  ## 2,000 damaged files of every kind: one line each, no signal, mended; ARGS="--mutations 200 --kinds postings"
	$(PYTHON) tests/damage/trials.py $(ARGS)

soak-faults: environment  ## the whole product under load, faults at random; ARGS="--minutes 5 --write"
	$(PYTHON) tests/faults/whole_soak.py $(ARGS)

soak-io: environment  ## errors at every write and flush of a crawl, an index update, a ranking, a takedown; ARGS="--points 50 --write"
	$(PYTHON) tests/faults/io_sweep.py $(ARGS)

soak-shards: environment  ## visitors over shard servers that are killed, frozen, started, while a generation rolls; ARGS="--seconds 60"
	PYTHONPATH=. $(PYTHON) tests/cluster/shards_soak.py $(ARGS)

soak-cluster: environment  ## a crawl and visitors on three machines while things die; ARGS="--write --only raylet"
	PYTHONPATH=tests scripts/own-network $(PYTHON) tests/cluster/cluster_soak.py $(ARGS)

soak-sim-broker: environment  ## a simulated broker over 1,000 shards with drawn latencies, with and without hedging
	$(PYTHON) tests/cluster/sim_broker.py $(ARGS)

bench-shards: environment  ## CPU and times of a query in one process and over shard processes; overload; ARGS="--documents 20000"
	$(PYTHON) -m bench.shards $(ARGS)

soak-frontier: environment  ## ten million addresses in the frontier: speed and memory; ARGS="--urls 1000000"
	$(PYTHON) -m bench.frontier $(ARGS)

bench-frontier-workers: environment  ## 1, 2 and 4 workers on one frontier in PostgreSQL: new addresses, commits, p99
	$(PYTHON) -m bench.frontier.workers $(ARGS)

soak-sim-frontier: environment  ## 1,000 workers and 100,000 hosts played on PostgreSQL; ARGS="--workers 20 --hosts 500 --seconds 60"
	$(PYTHON) tests/crawl/frontier_sim.py $(ARGS)

bench-rank: bench-environment  ## PageRank against scipy, igraph, scikit-network, networkx, NetworKit; ARGS="--all"
	.venv-bench/bin/python -m bench.rank $(ARGS)

bench-blocks: environment  ## PageRank of one process beside PageRank over blocks: time and memory; ARGS="--edges 10000000"
	$(PYTHON) -m bench.rank.blocks $(ARGS)

bench-refresh: bench-environment  ## links of 200,000 documents to published ranks
	.venv-bench/bin/python -m bench.rank.refresh $(ARGS)

bench-documents: bench-environment  ## pages to documents, and turbohtml against selectolax; ARGS="--web FOLDER"
	.venv-bench/bin/python -m bench.documents $(ARGS)

bench-language: bench-environment  ## the language found for translated manuals, and for short texts
	.venv-bench/bin/python -m bench.language $(ARGS)

fuzz: environment  ## fuzz every reader of documents, SECONDS=60 each; ONLY="html pdf"
	@test -d build/atheris || $(PYTHON) -m pip install -q --disable-pip-version-check --require-hashes \
		--target build/atheris -r requirements/fuzz.lock
	PYTHONPATH=build/atheris SECONDS=$(SECONDS) ONLY="$(ONLY)" $(PYTHON) -m fuzz

soak-kernels: environment  ## the tests of all that kernels do, with every array access of them checked; after a change of a kernel
	NUMBA_BOUNDSCHECK=1 $(PYTHON) -m pytest $(PYTEST_FLAGS) tests/core tests/text tests/index tests/compat tests/search tests/ranking tests/graph

soak-processors: environment  ## the same answers from kernels for this processor and for a plain one; ARGS="--web FOLDER"
	$(PYTHON) -m bench.same_answers --before . --after . --processor x86-64 $(ARGS)

bench-start: environment  ## seconds of --help and search, memory of serve and up; ARGS="--collection FOLDER --before TREE"
	$(PYTHON) -m bench.start $(ARGS)

bench-search: bench-environment  ## string to ten results beside tantivy; ARGS="--documents FILE --peer"
	.venv-bench/bin/python -m bench.search $(ARGS)

same-answers: environment  ## 8,730 requests asked of two versions: BEFORE=REVISION [AFTER=REVISION] ARGS="--web FOLDER --shards N --over-http"
	$(PYTHON) -m bench.same_answers --before $(BEFORE) $(if $(AFTER),--after $(AFTER)) $(ARGS)

same-answers-cluster: environment  ## the same requests asked of one folder and of three machines; ARGS="--only demo --every 3 --web FOLDER"
	PYTHONPATH=tests:. scripts/own-network $(PYTHON) tests/cluster/cluster_answers.py $(ARGS)

bench-panels: environment  ## the result page with good, bad and no outside services, in turns; ARGS="--queries 200"
	PYTHONPATH=tests $(PYTHON) -m bench.panels $(ARGS)

bench-words: bench-environment  ## spelling and completion; ARGS="--collection FOLDER"
	.venv-bench/bin/python -m bench.words $(ARGS)

soak-search: bench-environment  ## 20,000 real and random queries: no error, none over the budget; ARGS="--documents FILE"
	.venv-bench/bin/python -m bench.search --soak $(ARGS)

bench-serve: bench-environment  ## searches a second over HTTP beside Starlette and tantivy; ARGS="--documents FILE"
	.venv-bench/bin/python -m bench.serve $(ARGS)

clean:  ## remove what make and the tests wrote
	rm -rf .venv .venv.lock .venv-bench .venv-bench.lock .mypy_cache .ruff_cache .pytest_cache .hypothesis screenshots build dist htmlcov .coverage
