package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"kiro-learn/collector/client"
	"kiro-learn/collector/store"
	"kiro-learn/internal/event"
)

const (
	transferTime = time.Hour // bounds an export or an import
	importChunk  = 1 << 20   // bytes of lines that are handed over at once
	importLine   = 4 << 20   // bytes of a line at most
)

type exportCmd struct {
	File    string `arg:"" optional:"" help:"Where to write it; standard output if there is none."`
	Project bool   `help:"Only this project, not everything."`
}

// Run writes events and records as lines of JSON.
func (e exportCmd) Run(a *app) error {
	cl, _, cancel, err := a.collector()
	if err != nil {
		return err
	}
	cancel()
	ctx, cancel := context.WithTimeout(context.Background(), transferTime)
	defer cancel()
	ns := ""
	if e.Project {
		ns = a.namespace()
	}
	if e.File == "" {
		out := bufio.NewWriterSize(a.stdout, 64<<10)
		_, err := cl.Export(ctx, ns, func(line []byte) error { _, err := out.Write(line); return err })
		return errors.Join(err, out.Flush())
	}
	end, err := exportFile(ctx, cl, ns, e.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s and %s written to %s\n", many(end.Events, "event"), many(end.Records, "record"), e.File)
	return err
}

// exportFile writes to a private file beside the wanted one, which takes its name when it is whole.
func exportFile(ctx context.Context, cl *client.Client, ns, path string) (end client.ExportEnd, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".kiro-learn-export-")
	if err != nil {
		return end, fmt.Errorf("write the export: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // there is none left when all went well
	out := bufio.NewWriterSize(f, 64<<10)
	end, err = cl.Export(ctx, ns, func(line []byte) error { _, err := out.Write(line); return err })
	if err = errors.Join(err, out.Flush(), f.Sync(), f.Close()); err != nil {
		return end, fmt.Errorf("write the export: %w", err)
	}
	return end, os.Rename(f.Name(), path)
}

type importCmd struct {
	File       string `arg:"" optional:"" help:"An export; standard input if there is none, or -. With --typescript a database, ~/.kiro-learn/kiro-learn.db if there is none."`
	TypeScript bool   `name:"typescript" help:"Import from the TypeScript kiro-learn's database."`
	AsMe       bool   `name:"as-me" xor:"as" help:"Take over as yours what was another user's."`
	AsIs       bool   `name:"as-is" xor:"as" help:"Keep it the other user's."`
	JSON       bool   `name:"json" help:"Print JSON."`
}

// Run stores what an export holds. What is there already stays as it is; secrets and private text are taken out.
func (i importCmd) Run(a *app) error {
	lines, err := i.lines(a)
	if err != nil {
		return err
	}
	cl, _, cancel, err := a.collector()
	if err != nil {
		return err
	}
	cancel()
	ctx, cancel := context.WithTimeout(context.Background(), transferTime)
	defer cancel()
	in := importer{ctx: ctx, cl: cl, whose: whoseFor(a, i.AsMe, i.AsIs)}
	if err := errors.Join(lines(&in), in.flush()); err != nil {
		return err
	}
	if i.JSON {
		if err := printJSON(a.stdout, struct {
			client.Imported
			Lines int `json:"refused_lines"` // of which refused names the first
		}{in.sum, in.bad}); err != nil {
			return err
		}
	} else {
		_, _ = fmt.Fprintf(a.stdout, "%s and %s imported, %d known already\n", many(in.sum.Events, "event"), many(in.sum.Records, "record"), in.sum.Known)
	}
	if err := in.homeless(a); err != nil {
		return err
	}
	return in.verdict()
}

// refusedShown is how many bad lines an error names.
const refusedShown = 5

// verdict is an error when not all that the source should hold has come in. What is good of it is there all the same.
func (in *importer) verdict() error {
	if n := in.bad; n > 0 {
		var b strings.Builder
		for _, r := range in.sum.Refused[:min(n, refusedShown)] {
			fmt.Fprintf(&b, "\n  line %d: %s", r.Line, r.Reason)
		}
		if n > refusedShown {
			fmt.Fprintf(&b, "\n  and %d more", n-refusedShown)
		}
		return fmt.Errorf("%d of %d lines were not imported:%s", n, in.items+n, b.String())
	}
	switch {
	case in.format && in.end == nil:
		return fmt.Errorf("the export ends early, after line %d: what it holds is imported, the rest is missing", in.lines)
	case in.format && in.items != in.end.Events+in.end.Records:
		return fmt.Errorf("the export is not whole: it says that it holds %d events and records, and there are %d", in.end.Events+in.end.Records, in.items)
	case in.items == 0 && in.end == nil:
		return errors.New("there is nothing to import; an export is made with: kiro-learn export FILE")
	}
	return nil
}

// lines gives the source that hands its lines to an importer.
func (i importCmd) lines(a *app) (func(*importer) error, error) {
	path := i.File
	if i.TypeScript {
		if path == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, fmt.Errorf("find the home directory: %w; name the database file", err)
			}
			path = filepath.Join(home, ".kiro-learn", "kiro-learn.db")
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("open the database: %w; name its file", err)
		}
		return func(in *importer) error { return in.typeScript(path) }, nil
	}
	if path == "" || path == "-" {
		return func(in *importer) error { return in.read(a.stdin) }, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the export: %w", err)
	}
	return func(in *importer) error { return errors.Join(in.read(f), f.Close()) }, nil
}

// importer hands lines over in chunks and adds up the answers.
type importer struct {
	ctx    context.Context
	cl     *client.Client
	chunk  bytes.Buffer
	at     []int // the numbers of the chunk's lines
	lines  int
	items  int               // good events and records
	bad    int               // lines that were refused; sum names the first of them
	format bool              // the first line of an export was there
	end    *client.ExportEnd // what its last line says
	sum    client.Imported
	whose  whose
}

// refusedKept is how many bad lines are remembered.
const refusedKept = 100

func (in *importer) refuse(line int, reason string) {
	if in.bad++; len(in.sum.Refused) < refusedKept {
		in.sum.Refused = append(in.sum.Refused, client.Refused{Line: line, Reason: reason})
	}
}

func (in *importer) read(r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(br)
		if len(line) == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if err := in.add(line); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the export: %w", err)
		}
	}
}

// readLine reads a line without its end; of one that is too long, the beginning, which no reader understands.
func readLine(br *bufio.Reader) (line []byte, err error) {
	for {
		part, err := br.ReadSlice('\n')
		if room := importLine - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), err
		}
	}
}

func (in *importer) add(line []byte) error {
	if in.chunk.Len() > 0 && in.chunk.Len()+len(line) > importChunk {
		if err := in.flush(); err != nil {
			return err
		}
	}
	if in.lines++; len(line) == 0 {
		return nil
	}
	if len(line) > 3*importChunk/2 {
		in.refuse(in.lines, "the line is too long")
		return nil
	}
	if around, err := in.around(line); around || err != nil {
		return err
	}
	line, err := in.own(line)
	if len(line) == 0 || err != nil {
		return err
	}
	in.at = append(in.at, in.lines)
	in.chunk.Write(line)
	in.chunk.WriteByte('\n')
	return nil
}

// around reads the lines that stand around the items of an export.
func (in *importer) around(line []byte) (bool, error) {
	if !bytes.HasPrefix(line, []byte(`{"format":`)) && !bytes.HasPrefix(line, []byte(`{"end":`)) {
		return false, nil
	}
	var l client.ExportLine
	if json.Unmarshal(line, &l) != nil || l.Format == "" && l.End == nil {
		return false, nil
	}
	if l.Format != "" && (l.Format != client.ExportFormat || l.SchemaVersion > event.SchemaVersion) {
		return true, fmt.Errorf("line %d says %.40q, version %d, and not %q, version %d: this kiro-learn cannot read it", in.lines, l.Format, l.SchemaVersion, client.ExportFormat, event.SchemaVersion)
	}
	in.format, in.end = in.format || l.Format != "", l.End
	return true, nil
}

func (in *importer) flush() error {
	if in.chunk.Len() == 0 {
		return nil
	}
	got, err := in.cl.Import(in.ctx, in.chunk.Bytes())
	if err != nil {
		return err
	}
	for _, r := range got.Refused {
		in.refuse(in.at[min(max(r.Line, 1), len(in.at))-1], r.Reason)
	}
	in.items += got.Events + got.Records + got.Known
	in.sum.Events, in.sum.Records, in.sum.Known = in.sum.Events+got.Events, in.sum.Records+got.Records, in.sum.Known+got.Known
	in.at = in.at[:0]
	in.chunk.Reset()
	return nil
}

func (in *importer) typeScript(path string) error {
	return store.TypeScript(in.ctx, path, func(it store.Item) error {
		var line bytes.Buffer
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(client.ExportLine{Event: it.Event, Distilled: it.Distilled, Record: it.Record}); err != nil { // a body that is no JSON
			in.lines++
			in.refuse(in.lines, "it cannot be written as JSON")
			return nil
		}
		return in.add(bytes.TrimSpace(line.Bytes()))
	})
}
