// Package evaluate measures recall on a set of records and questions whose right answers are known: how often the right
// records come first, and how often prompts that have nothing to do with a project are given something all the same.
package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"kiro-learn/collector/recall"
	"kiro-learn/internal/event"
)

// Set is a list of collections. Each is loaded into a namespace of its own.
type Set []Collection

// Collection is the records of one project and the questions about it.
type Collection struct {
	Name    string   `json:"name"`
	Records []Record `json:"records"`
	Queries []Query  `json:"queries"`
}

// Record is a record of a set.
type Record struct {
	ID      string   `json:"id"`
	Session string   `json:"session"`
	Time    string   `json:"time"` // RFC 3339
	Title   string   `json:"title"`
	Summary string   `json:"summary"`
	Files   []string `json:"files"`
}

// Query is a question of a set, with the ids of the records that answer it.
type Query struct {
	Text string   `json:"q"`
	Gold []string `json:"gold"`
}

// Read reads a set: a JSON array of {name, records: [{id, session, time, title, summary, files}], queries: [{q, gold}]}.
func Read(r io.Reader) (Set, error) {
	var s Set
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return nil, fmt.Errorf("read a recall set: %w", err)
	}
	for _, c := range s {
		if c.Name == "" || len(c.Records) == 0 {
			return nil, fmt.Errorf("read a recall set: a collection needs a name and records")
		}
	}
	return s, nil
}

// Namespace is where a collection is loaded.
func (c *Collection) Namespace() string {
	sum := sha256.Sum256([]byte(c.Name))
	return event.Namespace("eval", hex.EncodeToString(sum[:]))
}

// Saver stores records.
type Saver interface {
	SaveRecord(ctx context.Context, r event.Record) (stored bool, err error)
}

// Load stores the records of a set, one after the other in the set's order.
func Load(ctx context.Context, s Set, to Saver) error {
	for i := range s {
		c := &s[i]
		for _, r := range c.Records {
			id, err := c.ulid(r)
			if err != nil {
				return fmt.Errorf("load %s, record %s: %w", c.Name, r.ID, err)
			}
			rec := event.Record{
				RecordID: "mr_" + id, Namespace: c.Namespace(), Strategy: event.StrategyRules, Title: r.Title,
				Summary: r.Summary, FilesTouched: r.Files, SourceEventIDs: []string{id}, CreatedAt: r.Time,
				ObservationType: event.TypeDiscovery,
			}
			rec.Fit()
			if _, err := to.SaveRecord(ctx, rec); err != nil {
				return fmt.Errorf("load %s, record %s: %w", c.Name, r.ID, err)
			}
		}
	}
	return nil
}

// ulid is the id of a record: its time, and for the rest a hash of its name.
func (c *Collection) ulid(r Record) (string, error) {
	t, err := time.Parse(time.RFC3339Nano, r.Time)
	if err != nil {
		return "", err
	}
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	sum := sha256.Sum256([]byte(c.Name + r.ID))
	var b [16]byte
	ms := uint64(t.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	copy(b[6:], sum[:10])
	out := make([]byte, 26)
	for i := range out { // 26 groups of 5 bits, the first of which has 3
		v := 0
		for k := range 5 {
			bit := i*5 + k - 2
			v <<= 1
			if bit >= 0 {
				v |= int(b[bit/8]>>(7-bit%8)) & 1
			}
		}
		out[i] = alphabet[v]
	}
	return string(out), nil
}

// Report holds the measures of a set, each a mean over all queries, 0 to 1.
type Report struct {
	Queries  int
	Measures map[string]float64 // any@k, all@k, mean@k, mrr, s-any@k, s-all@k
	Median   time.Duration      // of a search
	P99      time.Duration
}

// Run asks every query of a loaded set for its first limit records and measures the answers:
//
//	any@k   share of queries with at least one right record among the first k
//	all@k   share with every right record among the first k
//	mean@k  mean share of the right records among the first k
//	mrr     mean of 1 / rank of the first right record
//
// Sets with sessions are also scored by session (s-any@k, s-all@k).
func Run(ctx context.Context, s Set, e *recall.Engine, limit int) (Report, error) {
	sum, count := map[string]float64{}, map[string]int{}
	add := func(name string, v float64) { sum[name] += v; count[name]++ }
	var times []time.Duration
	for i := range s {
		c := &s[i]
		session, id := c.index()
		for _, q := range c.Queries {
			begin := time.Now()
			found, err := e.Search(ctx, recall.Query{Namespace: c.Namespace(), Text: q.Text, Limit: limit})
			if err != nil {
				return Report{}, fmt.Errorf("search %s: %w", c.Name, err)
			}
			times = append(times, time.Since(begin))
			ids := make([]string, len(found))
			for k, r := range found {
				ids[k] = id[r.RecordID]
			}
			score(q, ids, session, add)
		}
	}
	r := Report{Queries: len(times), Measures: map[string]float64{}}
	for name, v := range sum {
		r.Measures[name] = v / float64(count[name])
	}
	if slices.Sort(times); len(times) > 0 {
		r.Median, r.P99 = times[len(times)/2], times[len(times)*99/100]
	}
	return r, nil
}

// index gives the session of each of a set's ids, and the set's id of each record id.
func (c *Collection) index() (session, id map[string]string) {
	session, id = map[string]string{}, map[string]string{}
	for _, r := range c.Records {
		session[r.ID] = r.Session
		if u, err := c.ulid(r); err == nil {
			id["mr_"+u] = r.ID
		}
	}
	return session, id
}

func score(q Query, ids []string, session map[string]string, add func(string, float64)) {
	gold := map[string]bool{}
	for _, g := range q.Gold {
		gold[g] = true
	}
	for _, k := range []int{1, 5, 10, 20} {
		hit := hits(ids, gold, k)
		add(fmt.Sprintf("any@%d", k), truth(hit > 0))
		add(fmt.Sprintf("all@%d", k), truth(hit == len(gold)))
		add(fmt.Sprintf("mean@%d", k), float64(hit)/float64(max(1, len(gold))))
	}
	first := slices.IndexFunc(ids, func(id string) bool { return gold[id] })
	if first >= 0 {
		add("mrr", 1/float64(first+1))
	} else {
		add("mrr", 0)
	}
	wanted := map[string]bool{}
	for g := range gold {
		if session[g] == "" {
			return
		}
		wanted[session[g]] = true
	}
	var sessions []string
	for _, id := range ids {
		if !slices.Contains(sessions, session[id]) {
			sessions = append(sessions, session[id])
		}
	}
	for _, k := range []int{1, 3, 5, 10} {
		hit := hits(sessions, wanted, k)
		add(fmt.Sprintf("s-any@%d", k), truth(hit > 0))
		add(fmt.Sprintf("s-all@%d", k), truth(hit == len(wanted)))
	}
}

func hits(ids []string, wanted map[string]bool, k int) (n int) {
	for _, id := range ids[:min(k, len(ids))] {
		if wanted[id] {
			n++
		}
	}
	return n
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Write prints the measures, one a line, as recall evaluations elsewhere do.
func (r Report) Write(w io.Writer) error {
	names := make([]string, 0, len(r.Measures))
	for name := range r.Measures {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := fmt.Fprintf(w, "%-10s %.4f\n", name, r.Measures[name]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%-10s %d\n%-10s %.2f\n%-10s %.2f\n", "queries", r.Queries, "ms_median", milliseconds(r.Median), "ms_p99", milliseconds(r.P99))
	return err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
