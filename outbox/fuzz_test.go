package outbox

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// compose makes a segment of pieces of raw: what is in plan says of each whether it is a record, a torn one or garbage.
func compose(raw, plan []byte) []byte {
	var b []byte
	for _, p := range plan {
		n := min(int(p>>3), len(raw))
		record := encode(string(raw[:n/2]), raw[:n], time.UnixMilli(int64(p)))
		switch p & 7 {
		case 0, 1, 2:
			b = append(b, record...)
		case 3:
			b = append(b, record[:len(record)*2/3]...)
		case 4:
			b = append(b, record[:headerSize/2]...)
		case 5:
			record[len(record)-1] ^= 1
			b = append(b, record...)
		case 6:
			b = append(b, magic...)
		default:
			b = append(b, raw[:n]...)
		}
		raw = raw[n:]
	}
	return append(b, raw...)
}

// parse finds the records in a segment in the simplest way, one byte after the other.
func parse(b []byte) (records []Record, rest int) {
	for off := 0; off < len(b); {
		h, ok := parseHeader(b[off:])
		end := off + int(h.size())
		if !ok || end > len(b) || checksum(b[off+headerSize:end]) != h.sum {
			rest++
			off++
			continue
		}
		body := b[off+headerSize : end]
		records = append(records, Record{string(body[:h.idLen]), body[h.idLen:], h.time})
		off = end
	}
	return records, rest
}

func FuzzRecover(f *testing.F) {
	one := encode("id", []byte(`{"a":1}`), time.UnixMilli(5))
	f.Add([]byte{}, []byte{})
	f.Add(one, []byte{})
	f.Add([]byte("some text to be cut up into records, torn ones and garbage"), []byte{0x40, 0x43, 0x41, 0x44, 0x42, 0x45, 0x46, 0x40})
	f.Add(append(bytes.Repeat([]byte("x"), 100), one...), []byte{0x57, 0x50})
	f.Add(append(bytes.Clone(one[:40]), one...), []byte{})
	f.Add(append(encode("outer", one, time.UnixMilli(7))[:60], one...), []byte{})
	f.Add(bytes.Repeat([]byte(magic), 20), []byte{0x3b, 0x38, 0x3e})
	f.Fuzz(func(t *testing.T, raw, plan []byte) {
		if len(raw) > 1<<16 || len(plan) > 200 {
			t.Skip("long")
		}
		segment := compose(raw, plan)
		want, rest := parse(segment)
		for _, beside := range []bool{false, true} {
			recoverSegment(t, segment, want, rest, beside)
		}
	})
}

func recoverSegment(t *testing.T, segment []byte, want []Record, rest int, beside bool) {
	t.Helper()
	d := newMemDisk()
	q := memQueue(d, Options{})
	if err := d.makeDir(q.path(besideDir)); err != nil {
		t.Fatal(err)
	}
	node := &inode{data: bytes.Clone(segment)}
	if beside {
		d.now[q.path(besideDir, "1-1-1.q")] = node
	} else {
		d.now[q.path("seg-0000000000000001-00000000.q")] = node
		if s := mustStatus(t, q); rest == 0 && s.Pending != len(want) {
			t.Errorf("status counts %d, want %d", s.Pending, len(want))
		}
	}
	var got []Record
	if _, err := q.Drain(context.Background(), 3, 100, func(b []Record) ([]Verdict, error) {
		got = append(got, b...)
		return slices.Repeat([]Verdict{Done()}, len(b)), nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(bytes.Equal)); diff != "" {
		t.Errorf("beside=%v: delivered (-want +got):\n%s", beside, diff)
	}
	aside := 0
	if err := q.Quarantined(func(x Quarantine) bool { aside += x.Size; return true }); err != nil {
		t.Fatal(err)
	}
	if aside != rest {
		t.Errorf("beside=%v: %d bytes in quarantine, want %d", beside, aside, rest)
	}
	if s := mustStatus(t, q); s.Pending != 0 || s.Bytes != 0 {
		t.Errorf("beside=%v: left %+v", beside, s)
	}
	if err := q.Append("next", nil, 0); err != nil {
		t.Fatal(err)
	}
}
