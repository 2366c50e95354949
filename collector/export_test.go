package collector

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"kiro-learn/collector/client"
	"kiro-learn/internal/event"
)

func (w *world) export(ns string) string {
	w.t.Helper()
	var b bytes.Buffer
	if _, err := w.client.Export(context.Background(), ns, func(line []byte) error { b.Write(line); return nil }); err != nil {
		w.t.Fatal(err)
	}
	return b.String()
}

func TestAnExportImportsToTheSameExport(t *testing.T) {
	a, b := newWorld(t), newWorld(t)
	a.start()
	a.tell("s", "zebraqux")
	a.tell("t", "lionqux")
	want := a.export("")
	if !strings.HasPrefix(want, `{"format":"kiro-learn export","schema_version":1}`+"\n") || !strings.Contains(want, `{"end":{"events":6,"records":`) || strings.Contains(want, "firing") {
		t.Errorf("%s", want)
	}
	b.start()
	lines := strings.SplitAfter(want, "\n")
	for _, known := range []int{0, len(lines) - 3} { // what the first, the last and the empty line after it are not
		got, err := b.client.Import(context.Background(), []byte(want))
		if err != nil || got.Known != known || len(got.Refused) > 0 || got.Events+got.Records+got.Known != len(lines)-3 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if got := b.export(""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if none := b.export("/actor/mia/project/none/"); !strings.Contains(none, `{"end":{"events":0,"records":0}}`) {
		t.Error(none)
	}
}

func TestAnImportIsScrubbedAndChecked(t *testing.T) {
	w := newWorld(t)
	w.start()
	e := w.event(event.KindPrompt, "s", "", event.TextBody("a <private>zebraqux</private> and AKIAQ3EXAMPLEZ7WQ2AB"))
	bad := w.event("thought", "s", "", event.TextBody("x"))
	rec := event.Record{ // what a record lacks of its lists is made up for
		RecordID: "mr_" + e.EventID, Namespace: e.Namespace, Strategy: "rules", Title: "a <private>zebraqux</private> title", Summary: "s", SourceEventIDs: []string{e.EventID},
		CreatedAt: "2026-11-20T09:00:00Z", ObservationType: "discovery",
	}
	var b bytes.Buffer
	for _, l := range []client.ExportLine{{Event: &e, Distilled: true}, {Event: &bad}, {Record: &rec}} {
		if err := writeLine(&b, l); err != nil {
			t.Fatal(err)
		}
	}
	b.WriteString("\nno JSON\n{\"future\":1}\n")
	got, err := w.client.Import(context.Background(), b.Bytes())
	if err != nil || got.Events != 1 || got.Records != 1 || len(got.Refused) != 3 || got.Refused[0].Line != 2 || got.Refused[1].Line != 4 || got.Refused[2].Line != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	if found := w.inFiles("zebraqux"); len(found) > 0 {
		t.Errorf("in %v", found)
	}
	if out := w.export(""); strings.Contains(out, "AKIA") || !strings.Contains(out, "[REDACTED]") && !strings.Contains(out, "REDACTED") {
		t.Error(out)
	}
	if status, _ := w.do("POST", "/v1/import", "text/plain", ""); status != 415 {
		t.Error(status)
	}
}
