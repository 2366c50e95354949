package viewer

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"

	"kiro-learn/internal/event"
)

const (
	feedPause = 250 * time.Millisecond // between two messages: a browser that is told more often only blinks
	feedBeat  = 15 * time.Second       // between signs of life
	feedMost  = 200                    // things of one message; of more the newest are kept
)

// feed tells a page what is stored, as it happens, by server-sent events: each message is a few lines of markup, the
// newest first. It counts as a request under way, so the collector stays as long as somebody looks.
func (q *request) feed() (page, error) {
	rc := http.NewResponseController(q.w)
	_ = rc.SetWriteDeadline(time.Time{}) // one that cannot be set is one that does not hold
	q.w.Header().Set("Content-Type", "text/event-stream")
	q.w.WriteHeader(http.StatusOK)
	_, _ = q.w.Write([]byte("retry: 1000\n\n"))
	_ = rc.Flush()
	lines, ended := make(chan []byte, 512), make(chan struct{})
	go func() {
		defer close(ended)
		_ = q.api.stream(q.ctx, "/v1/tail?chars=4000", func(line []byte) { // its end is all that matters
			select {
			case lines <- bytes.Clone(line):
			default: // a browser that is too slow misses some
			}
		})
	}()
	ns, names := q.q.Get("project"), map[string]string{}
	var waiting []html
	flush, beat := time.NewTicker(feedPause), time.NewTicker(feedBeat)
	defer flush.Stop()
	defer beat.Stop()
	for {
		var message string
		select {
		case <-q.ctx.Done():
			return page{gone: true}, nil
		case <-q.quit:
			return page{gone: true}, nil
		case <-ended:
			return page{gone: true}, nil
		case line := <-lines:
			if h := q.feedLine(line, ns, names); h != "" {
				if waiting = append(waiting, h); len(waiting) > feedMost {
					waiting = waiting[1:]
				}
			}
			continue
		case <-flush.C:
			if len(waiting) == 0 {
				continue
			}
			message = feedMessage(waiting)
			waiting = nil
		case <-beat.C:
			message = ": still here\n\n"
		}
		if _, err := q.w.Write([]byte(message)); err != nil {
			return page{gone: true}, nil
		}
		_ = rc.Flush()
	}
}

// feedMessage is markup as one server-sent event, the newest first.
func feedMessage(items []html) string {
	var b strings.Builder
	for i := len(items) - 1; i >= 0; i-- {
		for line := range strings.SplitSeq(string(items[i]), "\n") {
			b.WriteString("data: " + line + "\n")
		}
	}
	return b.String() + "\n"
}

// feedLine is a line of the API's feed as a line of ours; "" for another project's. Names are those of the projects that it
// has had to ask for.
func (q *request) feedLine(line []byte, ns string, names map[string]string) html {
	var it struct {
		Event  *event.Event  `json:"event"`
		Record *event.Record `json:"record"`
	}
	if json.Unmarshal(line, &it) != nil {
		return ""
	}
	switch {
	case it.Event != nil && (ns == "" || it.Event.Namespace == ns):
		m := newMoment(it.Event)
		return q.feedItem(&m)
	case it.Record != nil && (ns == "" || it.Record.Namespace == ns):
		if _, _, ofProject := event.SplitNamespace(it.Record.Namespace); !ofProject {
			return "" // of a session as a whole
		}
		if _, known := names[it.Record.Namespace]; !known {
			if all, err := q.names(); err == nil {
				maps.Copy(names, all)
			}
		}
		return q.recordItem(it.Record, names[it.Record.Namespace])
	}
	return ""
}
