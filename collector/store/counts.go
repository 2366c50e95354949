package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

const (
	frequent  = 256  // records that hold a word, from which on its count is remembered
	maxCounts = 8192 // counts that are remembered, some 100 bytes each
	drift     = 50   // a remembered count is good until the number of records has changed by 1/drift
)

// counts remembers in how many records the frequent words occur. Counting walks all of a word's records, so frequent
// words cost most and change least; rare ones are always counted anew, so that a word is found as soon as it is saved.
type counts struct {
	mu sync.Mutex
	of map[string]count // by word with its namespace's key
}

type count struct{ docs, total int }

// known fills docs with what is remembered of the words and gives the places of the others.
func (c *counts) known(words []string, total int, docs []int) (unknown []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, w := range words {
		n, ok := c.of[w]
		if d := total - n.total; !ok || d*drift > total || -d*drift > total {
			unknown = append(unknown, i)
			continue
		}
		docs[i] = n.docs
	}
	return unknown
}

func (c *counts) remember(word string, n count) {
	if n.docs < frequent {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil || len(c.of) >= maxCounts {
		c.of = make(map[string]count)
	}
	c.of[word] = n
}

// forget drops what is remembered: words of records that are gone are not kept.
func (c *counts) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of = nil
}

// TermCounts tells in how many of a namespace's records each word occurs, and how many records it has. The count of a
// word that is in very many of them may be as old as the last two in a hundred records.
func (s *Store) TermCounts(ctx context.Context, namespace string, words []string) (docs []int, total int, err error) {
	docs = make([]int, len(words))
	ns, ok := s.spaces.id(namespace)
	if !ok {
		return docs, 0, nil
	}
	err = s.read.QueryRowContext(ctx, "SELECT n FROM record_counts WHERE ns = ?", ns).Scan(&total)
	if errors.Is(err, sql.ErrNoRows) {
		return docs, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("count records: %w", err)
	}
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = key(ns) + w
	}
	unknown := s.counts.known(list, total, docs)
	if len(unknown) == 0 {
		return docs, total, nil
	}
	return docs, total, s.countWords(ctx, list, unknown, total, docs)
}

// countWords counts the records of those words of list that unknown names.
func (s *Store) countWords(ctx context.Context, list []string, unknown []int, total int, docs []int) error {
	asked := make([]string, len(unknown))
	for k, i := range unknown {
		asked[k] = list[i]
	}
	js, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	rows, err := s.read.QueryContext(ctx, "SELECT j.key, t.doc FROM json_each(?) j CROSS JOIN search_terms t ON t.term = j.value", string(js))
	if err != nil {
		return fmt.Errorf("count words: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var k, n int
		if err := rows.Scan(&k, &n); err != nil {
			return fmt.Errorf("count words: %w", err)
		}
		docs[unknown[k]] = n
		s.counts.remember(asked[k], count{n, total})
	}
	return rows.Err()
}
