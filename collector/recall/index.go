package recall

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// indexVersion changes whenever the same record would give other terms; the store then indexes everything anew.
const indexVersion = 5

// Index makes the terms by which the store finds a record. It implements store.Indexer.
type Index struct{}

// Version names the rules by which terms are made.
func (Index) Version() int { return indexVersion }

// Index gives the terms of every field of a record, in order and repeated as often as they occur.
func (Index) Index(r event.Record) store.Fields {
	return store.Fields{
		Title:    joinTerms(r.Title),
		Summary:  joinTerms(r.Summary),
		Facts:    joinTerms(r.Facts...),
		Concepts: joinTerms(r.Concepts...),
		Files:    joinTerms(r.FilesTouched...),
	}
}

func joinTerms(texts ...string) string {
	var b strings.Builder
	sc := scanner{emit: func(term, _ []byte, _ class, _ int) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.Write(term)
	}}
	for _, t := range texts {
		sc.scan(t)
	}
	return b.String()
}

// The fields of a record, by the number under which a doc keeps them.
const (
	fieldTitle = iota
	fieldSummary
	fieldFacts
	fieldConcepts
	fieldFiles
	fieldCount
)

// doc is a record as the ranking sees it: where every term occurs. Terms are known by a hash of 32 bits; at a few
// hundred terms a record, two that share one are a rarity that costs a rank, no more.
type doc struct {
	id      int64
	created time.Time
	session string
	space   string       // namespace
	kind    string       // observation type
	about   string       // type of a record about a session
	occ     []occurrence // sorted by term, field and position
	length  [fieldCount]float32
	sketch  sketch
}

type occurrence struct {
	term uint32
	at   uint32 // field in the upper 4 bits, position in the others
}

const posBits = 28

func makeDoc(r *store.Stored) *doc {
	d := &doc{occ: make([]occurrence, 0, len(r.Title)/4+len(r.Summary)/4+16), id: r.ID, created: r.Created, session: r.SessionID, space: r.Namespace, kind: r.ObservationType, about: r.Type}
	field := 0
	sc := scanner{emit: func(term, _ []byte, _ class, pos int) {
		d.occ = append(d.occ, occurrence{hash(term), uint32(field)<<posBits | uint32(pos)&(1<<posBits-1)})
	}}
	for f, texts := range [fieldCount][]string{{r.Title}, {r.Summary}, r.Facts, r.Concepts, r.FilesTouched} {
		field = f
		sc.pos = 0
		for _, t := range texts {
			sc.scan(t)
			sc.pos += 8 // entries of a list are not near each other
		}
		d.length[f] = float32(max(0, sc.pos-8*len(texts)))
	}
	slices.SortFunc(d.occ, func(a, b occurrence) int {
		return cmp.Compare(uint64(a.term)<<32|uint64(a.at), uint64(b.term)<<32|uint64(b.at))
	})
	d.sketch = sketchOf(d)
	return d
}

// fieldsOf names the fields that hold a term.
func (d *doc) fieldsOf(term uint32) []string {
	names := [fieldCount]string{"title", "summary", "facts", "concepts", "files"}
	out := []string{}
	for _, o := range d.of(term) {
		if name := names[o.at>>posBits]; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// hash is FNV-1a.
func hash(b []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

// of gives the occurrences of a term.
func (d *doc) of(term uint32) []occurrence {
	lo := sort.Search(len(d.occ), func(i int) bool { return d.occ[i].term >= term })
	hi := lo
	for hi < len(d.occ) && d.occ[hi].term == term {
		hi++
	}
	return d.occ[lo:hi]
}
