package collector

import (
	"encoding/json"
	"net/http"
	"sync"

	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

// feed tells listeners what is stored, as it happens. A listener that is too slow misses some; nothing waits for it.
type feed struct {
	mu     sync.Mutex
	subs   map[chan feedItem]bool
	closed bool
}

// feedItem is one line of the live feed.
type feedItem struct {
	Event  *event.Event  `json:"event,omitempty"`
	Record *event.Record `json:"record,omitempty"`
}

func (f *feed) subscribe() (ch chan feedItem, leave func()) {
	ch = make(chan feedItem, 256)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		close(ch)
		return ch, func() {}
	}
	if f.subs == nil {
		f.subs = map[chan feedItem]bool{}
	}
	f.subs[ch] = true
	return ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subs, ch)
	}
}

func (f *feed) publish(c store.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.subs) == 0 {
		return
	}
	send := func(it feedItem) {
		for ch := range f.subs {
			select {
			case ch <- it:
			default:
			}
		}
	}
	for i := range c.Events {
		e := c.Events[i]
		e.Firing = nil
		send(feedItem{Event: &e})
	}
	for i := range c.Records {
		send(feedItem{Record: &c.Records[i]})
	}
}

// close ends every listener's feed, so that a shutdown need not wait for them.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for ch := range f.subs {
		close(ch)
	}
	f.subs = nil
}

// getTail streams what is stored from now on, one JSON object a line, until the client leaves.
func (c *Collector) getTail(w http.ResponseWriter, r *http.Request) {
	chars, ok := number(w, r, "chars", 0, 20, 1<<20)
	if !ok {
		return
	}
	patient(w)
	items, leave := c.feed.subscribe()
	defer leave()
	rc := http.NewResponseController(w)
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	_ = rc.Flush()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for {
		select {
		case <-r.Context().Done():
			return
		case it, ok := <-items:
			if !ok {
				return
			}
			if it.Event != nil && chars > 0 {
				e := *it.Event // others hear of it, too
				e.Body = cutBody(e.Body, chars)
				it.Event = &e
			}
			if enc.Encode(it) != nil {
				return
			}
			_ = rc.Flush()
		}
	}
}
