package truncate

import (
	"kiro-learn/internal/event"
	"kiro-learn/internal/rawjson"
)

// message cuts the turns of a message body, the last one first: what began a conversation tells most about it.
func message(doc []byte, size int) []byte {
	list := within(doc, rawjson.Get(doc, "turns"))
	var turns []span
	rawjson.Elements(list.of(doc), func(v []byte) bool {
		turns = append(turns, within(doc, v))
		return true
	})
	if len(turns) == 0 {
		return wrapped(event.JSONBody(doc), size)
	}
	need := len(doc) - size
	edits := make([]edit, len(turns)) // of each turn; an empty text with a span drops it
	for i := len(turns) - 1; i > 0 && need > 0; i-- {
		content := contentOf(doc, turns[i])
		switch room := content.room(); {
		case room <= 0:
		case need < room:
			edits[i], need = content.shorten(doc, need)
		default: // nothing of it would be left
			edits[i] = dropped(turns, i)
			need -= edits[i].len()
		}
	}
	first := contentOf(doc, turns[0])
	for i := len(turns) - 1; i > 0 && need > max(first.room(), 0); i-- { // turns too short to be cut
		if edits[i].empty() {
			edits[i] = dropped(turns, i)
			need -= edits[i].len()
		}
	}
	if need > 0 && first.room() > 0 {
		edits[0], need = first.shorten(doc, need)
	}
	if need > 0 {
		return oneTurn(doc, turns[0], size)
	}
	return splice(doc, made(edits))
}

// dropped removes turn i, which is not the first, with the comma before it.
func dropped(turns []span, i int) edit { return edit{span: span{turns[i-1].end, turns[i].end}} }

func made(edits []edit) []edit {
	out := edits[:0]
	for _, e := range edits {
		if !e.empty() {
			out = append(out, e)
		}
	}
	return out
}

func contentOf(doc []byte, turn span) span {
	c := rawjson.Get(turn.of(doc), "content")
	if !rawjson.IsString(c) {
		return span{}
	}
	return within(doc, c)
}

// oneTurn is a message of one turn and nothing that the contract does not know.
func oneTurn(doc []byte, turn span, max int) []byte {
	const longestRole = 64 // bytes
	role := rawjson.Unquote(rawjson.Get(turn.of(doc), "role"))
	if role == "" || len(role) > longestRole {
		role = "user"
	}
	content := ""
	if c := contentOf(doc, turn); !c.empty() {
		content = rawjson.Unquote(c.of(doc))
	}
	small := []byte(event.MessageBody([]event.Turn{{Role: role, Content: content}}))
	turns := within(small, rawjson.Get(small, "turns"))
	var at span
	rawjson.Elements(turns.of(small), func(v []byte) bool { at = contentOf(small, within(small, v)); return false })
	if out, ok := cutString(small, at, max); ok {
		return out
	}
	return event.MessageBody([]event.Turn{{Role: "user"}})
}
