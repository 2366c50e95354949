package client

import (
	"context"
	"net/http"
	"time"
)

// Activity is what has happened, by the hour.
type Activity struct {
	Hours []ActivityHour `json:"hours"` // the earliest first; hours in which nothing happened are left out
}

// ActivityHour counts one kind of event or one type of record of one hour.
type ActivityHour struct {
	Hour time.Time `json:"hour"` // its beginning
	Of   string    `json:"of"`   // "events" or "records"
	What string    `json:"what"` // the kind or type
	N    int       `json:"n"`
}

// Took is how long something took.
type Took struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind,omitempty"` // of event, for hooks
	MS   float64   `json:"ms"`
}

// Condition is how the collector and what it lives on are.
type Condition struct {
	Version  string           `json:"version"`
	Started  time.Time        `json:"started"`
	Requests int64            `json:"requests"`
	Outbox   Outbox           `json:"outbox"`
	Files    map[string]int64 `json:"files"`  // sizes in bytes: database, journal, outbox, log
	Hooks    []Took           `json:"hooks"`  // the last runs of hooks, the latest last
	Recall   []Took           `json:"recall"` // the last recalls of this collector, the latest last
}

// Outbox is what waits to be stored, and what cannot be.
type Outbox struct {
	Pending    int        `json:"pending"`
	Oldest     string     `json:"oldest,omitempty"` // ISO 8601
	Dropped    int        `json:"dropped"`
	DropReason string     `json:"drop_reason,omitempty"`
	SetAside   []SetAside `json:"set_aside"` // events that were refused; the first hundred
}

// SetAside is an event that was refused.
type SetAside struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	Bytes  int       `json:"bytes"`
}

// Map is what a project's newest records are about.
type Map struct {
	Total    int          `json:"total"`    // records of the project
	Records  int          `json:"records"`  // of them on the map
	Files    []MapFile    `json:"files"`    // those with most records first
	Concepts []MapConcept `json:"concepts"` // those with most records first
	Unplaced int          `json:"unplaced"` // records that name no file
}

// MapFile is a file that records speak of.
type MapFile struct {
	Path  string         `json:"path"` // within the project where it lies there
	Types map[string]int `json:"types"`
	N     int            `json:"n"`
}

// MapConcept is a concept that records hold.
type MapConcept struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// UI asks for an address that lets one browser see the memory, once. It names a page that is only served here.
func (c *Client) UI(ctx context.Context) (address string, err error) {
	var got struct {
		URL string `json:"url"`
	}
	err = c.Call(ctx, http.MethodPost, "/v1/ui", struct{}{}, &got)
	return got.URL, err
}
