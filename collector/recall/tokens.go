package recall

import "unicode/utf8"

// Tokens estimates how many tokens a model counts for a text: one for four bytes of most scripts, one for each character
// of those without spaces, of which a byte tells more.
func Tokens(s string) int {
	joinedChars, otherBytes := 0, 0
	for _, r := range s {
		if r >= utf8.RuneSelf && joined(r) {
			joinedChars++
		} else {
			otherBytes += utf8.RuneLen(r)
		}
	}
	return joinedChars + (otherBytes+3)/4
}

// blockWithin is Block with a limit of tokens beside that of bytes.
func blockWithin(records []Result, maxBytes, maxTokens, maxRecords int) (text string, shown []Result) {
	text, shown = Block(records, maxBytes, maxRecords)
	for tokens := Tokens(text); tokens > maxTokens; tokens = Tokens(text) {
		// In proportion, and a little less since what is left out may be what had few tokens.
		maxBytes = min(maxBytes, len(text)) * maxTokens / tokens * 15 / 16
		text, shown = Block(records, maxBytes, maxRecords)
	}
	return text, shown
}
