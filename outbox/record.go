package outbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"time"
)

// magic begins every record. The control characters keep it out of JSON and of any other printable text.
const magic = "\x1e\x00KLOQ1\x1e"

// Layout of the header: magic, length of data, length of id, three zero bytes, milliseconds since 1970, CRC-32 of id
// and data, CRC-32 of the header up to here. Numbers are little endian.
const (
	headerSize = 32
	atDataLen  = 8
	atIDLen    = 12
	atTime     = 16
	atSum      = 24
	atHeadSum  = 28
)

// checksum uses the IEEE polynomial, whose tables are made in a few microseconds. Castagnoli's take a quarter of all the
// instructions that a hook needs for a small payload.
func checksum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

// encode gives the bytes of a record, to be written with one write.
func encode(id string, data []byte, t time.Time) []byte {
	b := make([]byte, headerSize, headerSize+len(id)+len(data))
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[atDataLen:], uint32(len(data)))
	b[atIDLen] = byte(len(id))
	binary.LittleEndian.PutUint64(b[atTime:], uint64(t.UnixMilli()))
	b = append(b, id...)
	b = append(b, data...)
	binary.LittleEndian.PutUint32(b[atSum:], checksum(b[headerSize:]))
	binary.LittleEndian.PutUint32(b[atHeadSum:], checksum(b[:atHeadSum]))
	return b
}

type header struct {
	idLen, dataLen int
	time           time.Time
	sum            uint32
}

func (h header) size() int64 { return int64(headerSize + h.idLen + h.dataLen) }

// parseHeader reads the header at the beginning of b; ok is false when there is none, or not whole, or damaged.
func parseHeader(b []byte) (h header, ok bool) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic ||
		checksum(b[:atHeadSum]) != binary.LittleEndian.Uint32(b[atHeadSum:]) {
		return header{}, false
	}
	h = header{
		idLen:   int(b[atIDLen]),
		dataLen: int(binary.LittleEndian.Uint32(b[atDataLen:])),
		time:    time.UnixMilli(int64(binary.LittleEndian.Uint64(b[atTime:]))),
		sum:     binary.LittleEndian.Uint32(b[atSum:]),
	}
	return h, h.idLen <= MaxID && h.dataLen <= MaxData+maxReason
}

// window reads a file that grows: the bytes from the beginning up to size, in pieces of at least chunk. What it has
// read it does not read again, so where bytes may have changed since, a new window is needed.
type window struct {
	r     io.ReaderAt
	size  int64
	chunk int
	base  int64
	buf   []byte
}

// bytes gives n bytes at off, or fewer where the file ends. They are good until the next call.
func (w *window) bytes(off int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.size-off))
	if n <= 0 {
		return nil, nil
	}
	if off < w.base || off+int64(n) > w.base+int64(len(w.buf)) {
		want := int(min(int64(max(n, w.chunk)), w.size-off))
		if cap(w.buf) < want {
			w.buf = make([]byte, want)
		}
		got, err := w.r.ReadAt(w.buf[:want], off)
		if err != nil && !errors.Is(err, io.EOF) {
			w.buf = w.buf[:0]
			return nil, err
		}
		w.base, w.buf = off, w.buf[:got]
	}
	b := w.buf[off-w.base:]
	return b[:min(n, len(b))], nil
}

// header gives the header at off.
func (w *window) header(off int64) (header, bool, error) {
	b, err := w.bytes(off, headerSize)
	if err != nil {
		return header{}, false, err
	}
	h, ok := parseHeader(b)
	return h, ok, nil
}

// record gives the record at off and where it ends; ok is false when there is no whole, intact one. Its data is a copy.
func (w *window) record(off int64) (r Record, end int64, ok bool, err error) {
	h, ok, err := w.header(off)
	if err != nil || !ok || off+h.size() > w.size {
		return Record{}, 0, false, err
	}
	b, err := w.bytes(off, int(h.size()))
	if err != nil || int64(len(b)) < h.size() || checksum(b[headerSize:]) != h.sum {
		return Record{}, 0, false, err
	}
	b = b[headerSize:]
	return Record{ID: string(b[:h.idLen]), Data: bytes.Clone(b[h.idLen:]), Time: h.time}, off + h.size(), true, nil
}

// next gives the place of the first intact record at or behind off, or the size where there is none.
func (w *window) next(off int64) (int64, error) {
	for off < w.size {
		b, err := w.bytes(off, max(w.chunk, 64<<10))
		if err != nil {
			return 0, err
		}
		i := bytes.Index(b, []byte(magic))
		switch {
		case i >= 0:
			off += int64(i)
			if _, _, ok, err := w.record(off); err != nil || ok {
				return off, err
			}
			off++
		case off+int64(len(b)) >= w.size || len(b) < len(magic):
			return w.size, nil
		default:
			off += int64(len(b) - len(magic) + 1) // the magic may lie across two pieces
		}
	}
	return w.size, nil
}
