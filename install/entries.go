package install

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

const maxOurs = 1000 // entries of ours in one file, beyond which something other than install has written it

// A shape says what of ours a kind of file holds, and how to tell it from what is others'.
type shape struct {
	slots   []slot
	found   func(d *document) []place             // every entry of ours, wherever it stands
	command func(v hujson.Value) *hujson.Value    // where an entry keeps its command
	good    func(v hujson.Value, want entry) bool // Kiro takes the entry, whatever its command
	check   func(d *document) error               // nil, or why nothing may be added to this file
	limits  []string                              // keys that every entry has to have, whatever their values: Kiro's defaults differ
}

// A slot is a container and what has to stand in it.
type slot struct {
	path []string
	kind hujson.Kind // '[' or '{'
	want []entry
	when func(d *document) bool // whether a document needs it; nil for all do
}

func (s slot) neededIn(d *document) bool { return s.when == nil || s.when(d) }

// An entry is one hook or server that we add.
type entry struct {
	key     string // its name where the container is an object
	id      string // what it does; one entry of a slot and id is enough
	command string
	value   object
}

// A place is where an entry of ours was found.
type place struct {
	path  []string // of its container
	index int
	id    string
	value *hujson.Value
}

// put brings the document to hold exactly the entries that s wants: missing ones are added, old ones upgraded where
// they stand, doubles and those for events that we no longer use removed. mem receives what empty containers were.
func (s shape) put(d *document, mem before) error {
	if s.check != nil {
		if err := s.check(d); err != nil {
			return err
		}
	}
	if err := s.prune(d, mem); err != nil {
		return err
	}
	for _, slot := range s.slots {
		if !slot.neededIn(d) {
			continue
		}
		if err := d.openContainer(slot.path, slot.kind, mem); err != nil {
			return err
		}
		for _, e := range slot.want {
			if err := s.putOne(d, slot, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s shape) putOne(d *document, slot slot, e entry) error {
	for _, p := range s.found(d) {
		if slices.Equal(p.path, slot.path) && p.id == e.id {
			return s.upgrade(d, p, e)
		}
	}
	if slot.kind == '{' {
		return d.addMember(slot.path, e.key, e.value)
	}
	return d.addElement(slot.path, e.value)
}

// upgrade changes an entry of ours as little as its staleness asks for, so that what its owner tuned in it stays.
func (s shape) upgrade(d *document, p place, e entry) error {
	if !s.good(*p.value, e) {
		indent, _ := d.lineIndent(p.value.StartOffset)
		oneLine := !strings.Contains(string(d.text[p.value.StartOffset:p.value.EndOffset]), "\n")
		return d.replace(p.value, d.look.render(e.value, layout{inline: oneLine, indent: indent}))
	}
	for _, m := range e.value {
		if slices.Contains(s.limits, m.key) && memberOf(*p.value, m.key) == nil {
			if err := d.addMemberTo(p.value, p.value.StartOffset, m.key, m.value); err != nil {
				return err
			}
			p = s.same(d, p)
		}
	}
	c := s.command(*p.value)
	if l, ok := c.Value.(hujson.Literal); ok && l.String() == e.command {
		return nil
	}
	return d.replace(c, d.look.render(e.command, layout{inline: true}))
}

// same is the place p in a document that has changed since.
func (s shape) same(d *document, p place) place {
	all := s.found(d)
	return all[slices.IndexFunc(all, func(q place) bool { return slices.Equal(p.path, q.path) && p.index == q.index })]
}

// prune removes the entries of ours that no slot wants, one at a time since each removal moves the rest.
func (s shape) prune(d *document, mem before) error {
	for range maxOurs {
		seen := map[string]bool{}
		i := slices.IndexFunc(s.found(d), func(p place) bool {
			key := strings.Join(p.path, "/") + "\x00" + p.id
			twice := seen[key]
			seen[key] = true
			return twice || !s.wants(p)
		})
		if i < 0 {
			return nil
		}
		if err := s.take(d, s.found(d)[i], mem); err != nil {
			return err
		}
	}
	return errors.New("holds too many entries of kiro-learn")
}

func (s shape) wants(p place) bool {
	for _, slot := range s.slots {
		if slices.Equal(slot.path, p.path) {
			return slices.ContainsFunc(slot.want, func(e entry) bool { return e.id == p.id })
		}
	}
	return false
}

// take removes one entry, and its containers when that empties them.
func (s shape) take(d *document, p place, mem before) error {
	if err := d.removeChild(d.find(p.path...), p.index); err != nil {
		return err
	}
	return d.closeContainers(s.ancestors(p.path), mem)
}

// ancestors are the containers from path up that may go when they are empty.
func (s shape) ancestors(path []string) (out [][]string) {
	for n := len(path); n >= 0; n-- {
		out = append(out, path[:n])
	}
	return out
}

// strip removes every entry of ours and gives the number of them.
func (s shape) strip(d *document, mem before) (removed int, err error) {
	for range maxOurs {
		found := s.found(d)
		if len(found) == 0 {
			break
		}
		if err := s.take(d, found[0], mem); err != nil {
			return removed, err
		}
		removed++
	}
	var left [][]string // containers that we made and whose entries someone else has already taken out
	for name := range mem {
		path := strings.Split(name, "/")
		if name == "" {
			path = nil
		}
		left = append(left, path)
	}
	return removed, d.closeContainers(left, mem)
}

// edit is put on a file's bytes, checked: the result parses, holds what was wanted, and stripping it gives back every
// byte that is not ours.
func (s shape) edit(old []byte, mem before) ([]byte, before, error) {
	d, err := parse(old)
	if err != nil {
		return nil, nil, err
	}
	fresh := before{}
	if err := s.put(d, fresh); err != nil {
		return nil, nil, err
	}
	all := maps.Clone(mem)
	if all == nil {
		all = before{}
	}
	maps.Copy(all, fresh)
	if err := s.verify(old, d.bytes(), all); err != nil {
		return nil, nil, err
	}
	return d.bytes(), all, nil
}

func (s shape) verify(old, edited []byte, memNew before) error {
	was, err := parse(old)
	if err != nil {
		return err
	}
	is, err := parse(edited)
	if err != nil {
		return err
	}
	for _, slot := range s.slots {
		if !slot.neededIn(is) {
			continue
		}
		for _, e := range slot.want {
			n := 0
			for _, p := range s.found(is) {
				if slices.Equal(p.path, slot.path) && p.id == e.id && s.good(*p.value, e) {
					n++
				}
			}
			if n != 1 {
				return errors.New("cannot be edited safely: the result would not hold our entry once")
			}
		}
	}
	had, err := s.strip(was, memNew)
	if err != nil {
		return err
	}
	if _, err := s.strip(is, memNew); err != nil {
		return err
	}
	same := string(old) == string(is.bytes())
	if had > 0 {
		same = canonical(was) == canonical(is)
	}
	if !same {
		return errors.New("cannot be edited safely: removing our entries again would not give the same file")
	}
	return nil
}

// canonical is a document's content without white space and comments.
func canonical(d *document) string {
	v := d.root.Clone()
	v.Minimize()
	return string(v.Pack())
}

// clean gives old without our entries, and the number of them.
func (s shape) clean(old []byte, mem before) ([]byte, int, error) {
	d, err := parse(old)
	if err != nil {
		return nil, 0, err
	}
	n, err := s.strip(d, mem)
	return d.bytes(), n, err
}
