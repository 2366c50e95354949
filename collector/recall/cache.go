package recall

import (
	"container/list"
	"sync"

	"kiro-learn/collector/store"
)

// cacheBytes bounds what the cache of taken-apart records holds.
const cacheBytes = 8 << 20

// docCache keeps the records that were taken apart last, since the same ones come up in a conversation again and
// again. It is safe for concurrent use.
type docCache struct {
	mu    sync.Mutex
	max   int
	size  int
	order *list.List // of *docEntry, last used in front
	at    map[store.Revision]*list.Element
}

type docEntry struct {
	key store.Revision
	doc *doc
}

func newDocCache(max int) *docCache {
	return &docCache{max: max, order: list.New(), at: make(map[store.Revision]*list.Element)}
}

// get is the taken-apart form of the record in that state, nil when it is not there.
func (c *docCache) get(key store.Revision) *doc {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*docEntry).doc
}

// put keeps d as the taken-apart form of the record in that state.
func (c *docCache) put(key store.Revision, d *doc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at[key] != nil {
		return
	}
	c.at[key] = c.order.PushFront(&docEntry{key, d})
	c.size += d.bytes()
	for c.size > c.max && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(*docEntry)
		delete(c.at, last.key)
		c.size -= last.doc.bytes()
	}
}

// bytes is about what a doc takes with its entry in the cache.
func (d *doc) bytes() int { return 8*cap(d.occ) + 520 }
