"""The index as plainly as it can be said: dictionaries and loops, no files, no windows, no pruning."""

from collections import defaultdict

from nearness import starts_of
from plain_fields import field_pieces

from periplus import addresses
from periplus.core.layout.scores import UNIT
from periplus.index.format.fields import FIELDS, PIECE_GAP
from periplus.index.retrieval.query import STRONG_SHARE, Filters
from periplus.index.retrieval.weights import fixed, idf
from periplus.text import STEM_MARK, analyze


class Oracle:
    def __init__(self, documents, epoch, anchors=None, prior=None):
        self.documents = {document.key: document for document in documents}
        self.epoch = epoch
        self.prior = prior or {}
        self.postings = defaultdict(dict)  # term → key → field → positions
        self.lengths = {}
        for document in self.documents.values():
            self.add(document, anchors(addresses.page_key(document.url)) if anchors else ())

    def add(self, document, anchors):
        self.lengths[document.key] = [0] * len(FIELDS)
        for field, pieces in enumerate(field_pieces(document, anchors)):
            position = 0
            for piece in pieces:
                tokens = analyze(piece, document.language)
                self.lengths[document.key][field] += len(tokens)
                for token in tokens:
                    for form in token.forms:
                        places = self.postings[form.term].setdefault(document.key, defaultdict(list))
                        places[field].append(position + token.position)
                position += len(tokens) + PIECE_GAP

    def impact(self, key, fields, only):
        weight, epoch = 0.0, self.epoch
        for field, places in sorted(fields.items()):
            if not only or FIELDS[field] == only:
                penalty, average = epoch.penalties[field], max(epoch.averages[field], 1.0)
                norm = 1.0 - penalty + penalty * self.lengths[key][field] / average
                weight += len(places) * (epoch.weights[field] / norm)
        return max(1, min(255, int(255 * weight / (epoch.k1 + weight) + 0.5))) if weight else 0

    def impacts(self, postings, only):
        return {key: value for key, fields in postings.items() if (value := self.impact(key, fields, only))}

    def phrase(self, group):
        found, terms = defaultdict(dict), group.phrase
        for key in self.postings.get(terms[0], ()):
            for field in range(len(FIELDS)):
                rows = [self.postings.get(term, {}).get(key, {}).get(field, ()) for term in terms]
                starts = starts_of(terms, rows, group.slop, group.ordered)
                if starts:
                    found[key][field] = starts
        return found

    def frequency(self, term):
        return len(self.postings.get(term, ()))

    def lists(self, group):
        """(weight, {key: impact}) for each form of a group."""
        count = len(self.documents)
        if group.phrase:
            weight = sum(idf(count, self.frequency(term)) for term in group.phrase)
            return [(fixed(group.weight * weight), self.impacts(self.phrase(group), group.field))]
        if group.prefix and group.forms:
            weight = fixed(group.weight * min(idf(count, self.frequency(form.term)) for form in group.forms))
            return [(weight, self.impacts(self.postings.get(f.term, {}), group.field)) for f in group.forms]
        if group.prefix:
            terms = [t for t in self.postings if t.startswith(group.prefix) and not t.startswith(STEM_MARK)]
            rows = [self.impacts(self.postings[term], group.field) for term in terms]
            weight = fixed(group.weight * idf(count, len(set().union(*rows))))
            return [(weight, row) for row in rows]
        strong = max((self.frequency(f.term) for f in group.forms if f.share >= STRONG_SHARE), default=0)
        rows = []
        for form in group.forms:
            weight = group.weight * form.share * idf(count, max(strong, self.frequency(form.term)))
            rows.append((fixed(weight), self.impacts(self.postings.get(form.term, {}), group.field)))
        return rows

    def values(self, group):
        """{key: points} of a group: its best form counts."""
        best = {}
        for weight, row in self.lists(group):
            for key, impact in row.items():
                best[key] = max(best.get(key, 0), weight * impact)
        return best

    def conditions(self, filters, document):
        """For each condition, whether a document meets it."""
        host, date = addresses.host(document.url), document.published or document.fetched
        checks = [
            filters.sites and any(host == site or host.endswith("." + site) for site in filters.sites),
            filters.languages and document.language in filters.languages,
            filters.types and document.content_type in filters.types,
            filters.before and date < filters.before,
            filters.after and date >= filters.after,
        ]
        asked = (filters.sites, filters.languages, filters.types, filters.before, filters.after)
        return [check for check, one in zip(checks, asked, strict=True) if one]

    def admitted(self, query, document):
        return all(self.conditions(query.filters, document)) and not any(self.conditions(query.excluded, document))

    def total(self, query, found, limit):
        """How many match, as it is said: (value, relation)."""
        groups, forms = query.should, [form for group in query.should for form in group.forms]
        is_any_word = (
            not (query.must or query.any_of or query.must_not) and query.filters == query.excluded == Filters()
        )
        if not groups or not is_any_word or any(group.phrase or group.prefix or group.field for group in groups):
            return len(found), "eq"
        frequencies = [self.frequency(form.term) for form in forms]
        return (len(found), "eq") if sum(frequencies) <= limit else (max(frequencies), "gte")

    def search(self, query, prior_weight=1.0):
        """{key: score} of all matching documents."""
        must, any_of = [self.values(g) for g in query.must], [[self.values(g) for g in c] for c in query.any_of]
        should, must_not = [self.values(g) for g in query.should], [self.values(g) for g in query.must_not]
        clauses = [*([row] for row in must), *any_of] or ([should] if should else [])
        scored = [*should, *must, *(row for clause in any_of for row in clause)]
        found = {}
        for key, document in self.documents.items():
            matches = all(any(key in row for row in clause) for clause in clauses)
            if matches and self.admitted(query, document) and not any(key in row for row in must_not):
                points = sum(row.get(key, 0) for row in scored) if scored else 1
                prior = fixed(prior_weight) * int(255 * self.prior.get(key, 0.0) + 0.5) if prior_weight else 0
                found[key] = (points + prior) / UNIT
        return found
