package payload

// wordByte tells whether c can be part of a number or of a bare word such as true.
func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

func wordLen(b []byte) int {
	for i, c := range b {
		if !wordByte(c) {
			return i
		}
	}
	return len(b)
}

// validWord tells whether w is true, false, null or a number of JSON.
func validWord(w []byte) bool {
	switch string(w) {
	case "true", "false", "null":
		return true
	}
	if len(w) > 0 && w[0] == '-' {
		w = w[1:]
	}
	whole := digits(w)
	if whole == 0 || whole > 1 && w[0] == '0' {
		return false
	}
	w = w[whole:]
	if len(w) > 0 && w[0] == '.' {
		n := digits(w[1:])
		if n == 0 {
			return false
		}
		w = w[1+n:]
	}
	if len(w) > 0 && (w[0] == 'e' || w[0] == 'E') {
		w = w[1:]
		if len(w) > 0 && (w[0] == '+' || w[0] == '-') {
			w = w[1:]
		}
		n := digits(w)
		if n == 0 {
			return false
		}
		w = w[n:]
	}
	return len(w) == 0
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}
