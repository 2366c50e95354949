package recall

import "sync"

// stem reduces an English word of lower-case ASCII letters to a stem by Porter's algorithm (1980), in place, so that
// retry, retries and retried meet. Words of one or two letters, and anything with a digit, an underscore or another
// script in it, stay as they are, but for Arabic words, which lose what is written together with them.
func stem(w []byte) []byte {
	if len(w) < 2 {
		return w
	}
	if w[0] >= 0xD8 && w[0] <= 0xDB {
		return stemArabic(w)
	}
	if to, ok := wordForms()[string(w)]; ok {
		return append(w[:0], to...)
	}
	return porter(w)
}

func porter(w []byte) []byte {
	if len(w) < 3 {
		return w
	}
	for _, c := range w {
		if c < 'a' || c > 'z' {
			return w
		}
	}
	s := stemmer(w)
	s = s.plural().past().finalY()
	s = s.replace(step2, 0).replace(step3, 0).drop()
	return s.tidy()
}

// stemArabic takes the article, with what may stand before it, and the commonest endings off a word, as long as three
// letters remain. Letters of Arabic are two bytes.
func stemArabic(w []byte) []byte {
	const least = 3 * 2
	for _, p := range [...]string{"وال", "بال", "كال", "فال", "ال", "لل"} {
		if len(w) >= len(p)+least && string(w[:len(p)]) == p {
			w = w[len(p):]
			break
		}
	}
	for _, p := range [...]string{"ها", "ات", "ون", "ين", "ان", "يه", "ه"} {
		if len(w) >= len(p)+least && string(w[len(w)-len(p):]) == p {
			return w[:len(w)-len(p)]
		}
	}
	return w
}

type stemmer []byte

func (s stemmer) consonant(i int) bool {
	switch s[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !s.consonant(i-1)
	}
	return true
}

// measure counts the sequences of vowels followed by consonants.
func (s stemmer) measure() (m int) {
	i := 0
	for i < len(s) && s.consonant(i) {
		i++
	}
	for i < len(s) {
		for i < len(s) && !s.consonant(i) {
			i++
		}
		if i == len(s) {
			break
		}
		m++
		for i < len(s) && s.consonant(i) {
			i++
		}
	}
	return m
}

func (s stemmer) vowel() bool {
	for i := range s {
		if !s.consonant(i) {
			return true
		}
	}
	return false
}

func (s stemmer) doubled() bool {
	n := len(s)
	return n > 1 && s[n-1] == s[n-2] && s.consonant(n-1)
}

// short is consonant, vowel, consonant at the end, the last one not w, x or y.
func (s stemmer) short() bool {
	n := len(s)
	if n < 3 || !s.consonant(n-1) || s.consonant(n-2) || !s.consonant(n-3) {
		return false
	}
	c := s[n-1]
	return c != 'w' && c != 'x' && c != 'y'
}

func (s stemmer) ends(suffix string) (stemmer, bool) {
	if n := len(s) - len(suffix); n > 0 && string(s[n:]) == suffix {
		return s[:n], true
	}
	return s, false
}

func (s stemmer) plural() stemmer {
	if _, ok := s.ends("sses"); ok {
		return s[:len(s)-2]
	}
	if _, ok := s.ends("ies"); ok {
		return s[:len(s)-2]
	}
	if _, ok := s.ends("ss"); ok {
		return s
	}
	b, _ := s.ends("s")
	return b
}

func (s stemmer) past() stemmer {
	if b, ok := s.ends("eed"); ok {
		if b.measure() > 0 {
			return s[:len(s)-1]
		}
		return s
	}
	b, ok := s.ends("ed")
	if !ok {
		b, ok = s.ends("ing")
	}
	if !ok || !b.vowel() {
		return s
	}
	switch n := len(b); {
	case string(b[max(0, n-2):]) == "at", string(b[max(0, n-2):]) == "bl", string(b[max(0, n-2):]) == "iz":
		return append(b, 'e')
	case b.doubled():
		if c := b[n-1]; c != 'l' && c != 's' && c != 'z' {
			return b[:n-1]
		}
	case b.measure() == 1 && b.short():
		return append(b, 'e')
	}
	return b
}

func (s stemmer) finalY() stemmer {
	if b, ok := s.ends("y"); ok && b.vowel() {
		s[len(s)-1] = 'i'
	}
	return s
}

var step2 = sync.OnceValue(func() [][2]string {
	return [][2]string{
		{"ational", "ate"},
		{"tional", "tion"},
		{"enci", "ence"},
		{"anci", "ance"},
		{"izer", "ize"},
		{"bli", "ble"},
		{"alli", "al"},
		{"entli", "ent"},
		{"eli", "e"},
		{"ousli", "ous"},
		{"ization", "ize"},
		{"ation", "ate"},
		{"ator", "ate"},
		{"alism", "al"},
		{"iveness", "ive"},
		{"fulness", "ful"},
		{"ousness", "ous"},
		{"aliti", "al"},
		{"iviti", "ive"},
		{"biliti", "ble"},
		{"logi", "log"},
	}
})

var step3 = sync.OnceValue(func() [][2]string {
	return [][2]string{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}
})

func (s stemmer) replace(table func() [][2]string, m int) stemmer {
	for _, r := range table() {
		if b, ok := s.ends(r[0]); ok {
			if b.measure() > m {
				return append(b, r[1]...)
			}
			return s
		}
	}
	return s
}

func (s stemmer) drop() stemmer {
	for _, suffix := range [...]string{
		"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent",
		"ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
	} {
		b, ok := s.ends(suffix)
		if !ok {
			continue
		}
		if suffix == "ion" && b[len(b)-1] != 's' && b[len(b)-1] != 't' {
			return s
		}
		if b.measure() > 1 {
			return b
		}
		return s
	}
	return s
}

func (s stemmer) tidy() stemmer {
	if b, ok := s.ends("e"); ok {
		if m := b.measure(); m > 1 || m == 1 && !b.short() {
			s = b
		}
	}
	if s[len(s)-1] == 'l' && s.doubled() && s.measure() > 1 {
		s = s[:len(s)-1]
	}
	return s
}
