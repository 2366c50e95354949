//go:build unix

package viewer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"kiro-learn/internal/event"
)

// A turn of a story: when it was, what was asked, which tools were used, what was answered.
type told struct {
	ago            time.Duration
	project        string
	session        string
	prompt, answer string
	tools          []string // JSON of a tool use's data
}

const day = 24 * time.Hour

// yesterday is how long ago yesterday's hour was, by the clock on the wall.
func yesterday(hour int) time.Duration {
	n := time.Now()
	return time.Since(time.Date(n.Year(), n.Month(), n.Day()-1, hour, 0, 0, 0, n.Location()))
}

// story is a week of two projects, as their hooks would tell it.
func story() []told {
	edit := func(path, old, text string) string {
		b, _ := json.Marshal(map[string]any{"tool_name": "fs_write", "tool_input": map[string]string{"command": "str_replace", "path": path, "old_str": old, "new_str": text}, "tool_response": map[string]any{"success": true, "result": []string{""}}})
		return string(b)
	}
	run := func(command, out string, code int) string {
		b, _ := json.Marshal(map[string]any{"tool_name": "execute_bash", "tool_input": map[string]string{"command": command}, "tool_response": map[string]any{"success": code == 0, "result": []map[string]any{{"exit_status": fmt.Sprint(code), "stdout": out, "stderr": ""}}}})
		return string(b)
	}
	return []told{
		{6 * day, "shop", "s-101", "Orders from the mobile app sometimes arrive twice. Find out why and fix it.", "The mobile client retries after 10 s without an idempotency key, so the second request made a second order. POST /orders now requires an Idempotency-Key header; src/orders/handler.go stores it with a unique index. Tests pass.", []string{
			run("go test ./src/orders", "--- FAIL: TestTwice (0.02s)\n    handler_test.go:41: two orders for one cart\nFAIL", 1), edit("/home/mia/shop/src/orders/handler.go", "a", "b"), edit("/home/mia/shop/migrations/014_idempotency.sql", "", "CREATE UNIQUE INDEX"), run("go test ./src/orders", "ok  shop/src/orders 0.412s", 0),
		}},
		{5 * day, "shop", "s-102", "We decided to keep prices in integer cents everywhere because floats rounded VAT wrongly. Please change the cart.", "The cart, the invoice and the price list use int64 cents now; src/cart/total.go has the only rounding, half up, at the VAT line.", []string{
			edit("/home/mia/shop/src/cart/total.go", "float64", "int64"), edit("/home/mia/shop/src/invoice/invoice.go", "float64", "int64"), run("go test ./...", "ok", 0),
		}},
		{4 * day, "infra", "s-103", "The deploy pipeline fails at the docker build with 'no space left on device'. What is going on?", "The runner's disk was full of old layers. A nightly job prunes images older than 72 h now (ci/prune.sh), and the build uses --cache-to type=gha.", []string{
			run("df -h /", "/dev/sda1 40G 40G 0 100% /", 0), edit("/home/mia/infra/ci/prune.sh", "", "docker image prune"), edit("/home/mia/infra/.github/workflows/deploy.yml", "a", "b"),
		}},
		{yesterday(14), "shop", "s-104", "The upload job times out against the gateway. We decided to cap retries at three because the gateway rate-limits. Please implement it.", "Retries are capped at three with exponential backoff starting at 200 ms; see src/upload/upload.go. Tests pass.", []string{
			edit("/home/mia/shop/src/upload/upload.go", "for {", "for range 3 {"), run("go test ./src/upload", "ok  shop/src/upload 1.204s", 0),
		}},
		{yesterday(15), "shop", "s-104", "Remember: never log the Authorization header of the gateway, security asked for it.", "Noted. src/upload/log.go redacts it now.", []string{edit("/home/mia/shop/src/upload/log.go", "a", "b")}},
		{2 * time.Hour, "shop", "s-105", "How many times may the uploader retry against the gateway, and why?", "Three times, because the gateway limits the rate; the backoff starts at 200 ms.", nil},
		{time.Hour, "shop", "s-105", "Then let the invoice export use the same retry rule as the uploader, please.", "src/export/export.go uses retry.Policy from src/upload now. The nightly export test still fails: the fixture has float prices. Next: change testdata/invoices.json to cents.", []string{
			edit("/home/mia/shop/src/export/export.go", "a", "b"), run("go test ./src/export", "--- FAIL: TestNightly (0.10s)\n    export_test.go:77: want 1999, got 19.99\nFAIL", 1),
		}},
		{20 * time.Minute, "infra", "s-106", "Why do we prune docker images nightly?", "Because the runner's disk filled up with old layers and the build failed with no space left on device.", nil},
	}
}

// tell has the collector hear a story; each turn is distilled before the next one begins.
func (w *world) tell(turns []told) {
	w.t.Helper()
	for _, t := range turns {
		at := time.Now().Add(-t.ago)
		send := func(kind event.Kind, parent string, body []byte) string {
			at = at.Add(20 * time.Second)
			e := event.Event{
				EventID: w.ids.Next(time.Second), ParentEventID: parent, SessionID: t.session, ActorID: "mia", Namespace: event.Namespace("mia", t.project), SchemaVersion: 1,
				Kind: kind, Body: body, ValidTime: at.Format("2006-01-02T15:04:05.000Z07:00"), ContentHash: event.Hash(body),
				Source: event.Source{Surface: "kiro-cli", Version: "1", ClientID: "h", ProjectPath: "/home/mia/" + t.project},
				Firing: &event.Firing{Via: "t", From: at.UnixMicro(), To: at.Add(time.Duration(2500+len(body)) * time.Microsecond).UnixMicro()},
			}
			b, err := json.Marshal(e)
			if err != nil {
				w.t.Fatal(err)
			}
			if _, err := w.client.PostEvent(context.Background(), b, kind == event.KindPrompt); err != nil {
				w.t.Fatal(err)
			}
			return e.EventID
		}
		p := send(event.KindPrompt, "", event.TextBody(t.prompt))
		for _, tool := range t.tools {
			send(event.KindToolUse, p, event.JSONBody([]byte(tool)))
		}
		send(event.KindSessionSummary, p, event.TextBody(t.answer))
		w.distil()
	}
}
