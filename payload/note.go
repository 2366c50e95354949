package payload

// A note is a set of causes for which a payload is not as it was sent.
type note uint16

const (
	noteEscape note = 1 << iota
	noteControl
	noteInvalid
	noteWord
	noteLong
	noteDeep
	noteTorn
	noteStalled
	noteNothing
	noteText
)

func (p *Payload) notes(n note) {
	for i, text := range [...]string{
		"repaired an invalid escape",
		"escaped a raw control character",
		"replaced invalid text",
		"kept a word that is no JSON as text",
		"cut a text that is too long",
		"kept a value that is nested too deep as text",
		"payload is torn",
		"gave up waiting for the rest of the payload",
		"gave up waiting for a payload",
		"payload is no JSON, kept as text",
	} {
		if n&(1<<i) != 0 {
			p.Notes = append(p.Notes, text)
		}
	}
}
