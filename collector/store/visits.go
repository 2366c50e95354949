package store

import (
	"time"

	"kiro-learn/internal/event"
)

// visits are what the events of one job do to the rows of their sessions and to the counts of their hours: many events of
// one session cost one row. A trigger would cost each event several, and a journal of its statement.
type visits struct {
	at    map[place]*visit
	keys  []place // in the order of coming
	hours map[hourKind]int
}

// hourKind is what events are counted by.
type hourKind struct {
	ns, hour int64
	kind     event.Kind
}

// visit is what came of a session.
type visit struct {
	surface, project, title, last string
	from, until                   int64 // Unix milliseconds
	events, prompts               int
}

func (v *visits) add(ns int64, e *event.Event, now int64) {
	at, hour := now, now/1000/3600
	if t, err := time.Parse(time.RFC3339Nano, e.ValidTime); err == nil {
		at = t.UnixMilli()
		hour = t.Unix() / 3600 // as SQLite has it when such a row goes
	}
	if v.at == nil {
		v.at, v.hours = map[place]*visit{}, map[hourKind]int{}
	}
	v.hours[hourKind{ns, hour, e.Kind}]++
	p := place{ns, e.SessionID}
	s := v.at[p]
	if s == nil {
		s = &visit{surface: e.Source.Surface, from: at, until: at}
		v.at[p], v.keys = s, append(v.keys, p)
	}
	s.events++
	s.from, s.until, s.last = min(s.from, at), max(s.until, at), max(s.last, e.EventID)
	if s.project == "" {
		s.project = e.Source.ProjectPath
	}
	if e.Kind == event.KindPrompt {
		s.prompts++
		if b, err := event.ParseBody(e.Body); err == nil && s.title == "" {
			s.title = firstLine(b.Text())
		}
	}
}

// note keeps the sessions' rows: their spans, counts, titles and the counters by which summaries see that they moved.
func (v *visits) note(w *writerTx) error {
	for _, p := range v.keys {
		if err := v.at[p].note(w, p); err != nil {
			return err
		}
	}
	for h, n := range v.hours {
		res, err := w.exec("UPDATE hours SET n = n + ?4 WHERE ns = ?1 AND hour = ?2 AND what = 'e' || ?3", h.ns, h.hour, string(h.kind), n)
		if err != nil {
			return err
		}
		if old, err := res.RowsAffected(); err != nil || old > 0 {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := w.exec("INSERT INTO hours(ns, hour, what, n) VALUES (?1, ?2, 'e' || ?3, ?4)", h.ns, h.hour, string(h.kind), n); err != nil {
			return err
		}
	}
	return nil
}

func (s *visit) note(w *writerTx, p place) error {
	args := []any{p.ns, p.session, s.surface, s.from, s.until, s.events, s.prompts, s.title, s.last}
	res, err := w.exec(`UPDATE sessions SET events = events + ?6, prompts = prompts + ?7, gen = gen + ?6, first_ms = min(first_ms, ?4),
			last_ms = max(last_ms, ?5), last_event = max(last_event, ?9), title = CASE WHEN title = '' THEN ?8 ELSE title END
			WHERE ns = ?1 AND session_id = ?2`, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return err
	}
	_, err = w.exec(`INSERT INTO sessions(ns, session_id, surface, first_ms, last_ms, events, prompts, title, last_event, gen)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?6)`, args...)
	if err != nil || s.project == "" {
		return err
	}
	// A namespace may have been made by a record, or have lost its path when it was forgotten.
	_, err = w.exec("UPDATE namespaces SET project_path = ? WHERE id = ? AND project_path = ''", s.project, p.ns)
	return err
}
