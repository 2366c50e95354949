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

// UI asks for an address that lets one browser see the memory, once. It names a page that is only served here.
func (c *Client) UI(ctx context.Context) (address string, err error) {
	var got struct {
		URL string `json:"url"`
	}
	err = c.Call(ctx, http.MethodPost, "/v1/ui", struct{}{}, &got)
	return got.URL, err
}
