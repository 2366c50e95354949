package recall

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold brings text to the form in which it is compared: lower case, compatibility forms (full width, ligatures)
// replaced, and the marks off Latin, Greek and Cyrillic letters, whichever normal form they came in. Marks that make
// another letter, as in Japanese and the scripts of India, stay. Case is kept for split, so fold leaves it alone.
func fold(s string) string {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return s
	}
	s = norm.NFKC.String(s)
	out := make([]byte, 0, len(s))
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case invisible(r):
		case r < 0x530 || r >= 0x1E00 && r < 0x2000: // Latin, Greek, Cyrillic
			if sp := special(r); sp != "" {
				out = append(out, sp...)
				continue
			}
			if unicode.Is(unicode.Mn, r) {
				continue
			}
			if d := norm.NFD.PropertiesString(s[i:]).Decomposition(); len(d) > 0 {
				r, _ = utf8.DecodeRune(d)
			}
			out = utf8.AppendRune(out, r)
		case r >= 0x0591 && r <= 0x05C7 || r >= 0x064B && r <= 0x065F || r == 0x0640: // points of Hebrew and Arabic, and the stroke that lengthens
		case r >= 0x0622 && r <= 0x064A: // Arabic
			out = utf8.AppendRune(out, plainArabic(r))
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out)
}

// special are letters that Unicode does not take apart.
func special(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'æ', 'Æ':
		return "ae"
	case 'œ', 'Œ':
		return "oe"
	case 'ø', 'Ø':
		return "o"
	case 'ł', 'Ł':
		return "l"
	case 'đ', 'Đ', 'ð', 'Ð':
		return "d"
	case 'ı', 'İ':
		return "i"
	}
	return ""
}

// plainArabic gives an Arabic letter the form that people type when they are in a hurry.
func plainArabic(r rune) rune {
	switch r {
	case 'أ', 'إ', 'آ':
		return 'ا'
	case 'ى':
		return 'ي'
	case 'ة':
		return 'ه'
	}
	return r
}

// joined tells whether a script writes words without spaces between them, so that its runs are cut in characters and
// pairs of characters.
func joined(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, r >= 0x1000 && r <= 0x109F, r >= 0x1780 && r <= 0x17FF: // Thai, Lao, Burmese, Khmer
		return true
	case r >= 0x3040 && r <= 0x30FF, r == 0x3005, r == 0x3007: // kana
		return true
	case r >= 0x3400 && r <= 0x9FFF, r >= 0xF900 && r <= 0xFAFF, r >= 0x20000 && r <= 0x3FFFF: // Han
		return true
	case r >= 0xAC00 && r <= 0xD7A3: // Hangul: spaced, but particles hang on the words
		return true
	}
	return false
}

func kana(r rune) bool { return r >= 0x3040 && r <= 0x309F }

func invisible(r rune) bool {
	switch {
	case r == 0xAD, r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r == 0xFEFF:
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0000 && r <= 0xE0FFF, r == 0x061C, r == 0x180E, r == 0x3164, r == 0x115F, r == 0x1160:
		return true
	}
	return false
}
