package recall

import (
	"container/list"
	"sync"

	"kiro-learn/collector/store"
)

// cacheBytes bounds what the cache of taken-apart records holds.
const cacheBytes = 8 << 20

type docKey struct{ id, revision int64 }

// docCache keeps the records that were taken apart last, since the same ones come up in a conversation again and
// again. It is safe for concurrent use.
type docCache struct {
	mu    sync.Mutex
	max   int
	size  int
	order *list.List // of *docEntry, last used in front
	at    map[docKey]*list.Element
}

type docEntry struct {
	key docKey
	doc *doc
}

func newDocCache(max int) *docCache {
	return &docCache{max: max, order: list.New(), at: make(map[docKey]*list.Element)}
}

// get is the taken-apart form of r.
func (c *docCache) get(r *store.Stored) *doc {
	key := docKey{r.ID, r.Revision}
	c.mu.Lock()
	if e := c.at[key]; e != nil {
		c.order.MoveToFront(e)
		c.mu.Unlock()
		return e.Value.(*docEntry).doc
	}
	c.mu.Unlock()
	d := makeDoc(r) // outside the lock: two that do the same work do no harm
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at[key] == nil {
		c.at[key] = c.order.PushFront(&docEntry{key, d})
		c.size += d.bytes()
	}
	for c.size > c.max && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(*docEntry)
		delete(c.at, last.key)
		c.size -= last.doc.bytes()
	}
	return d
}

// bytes is about what a doc takes with its entry in the cache.
func (d *doc) bytes() int { return 8*cap(d.occ) + 320 }
