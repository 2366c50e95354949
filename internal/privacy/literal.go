package privacy

import "strings"

// environment tells the names that people give to variables of an environment: DB_PASSWORD, GITHUB_TOKEN. What such a name
// is set to without a space is the value itself and no expression, so that a weak secret counts too.
func environment(name string) bool {
	if len(name) < 5 || lastWord(name, "pat") || lastWord(name, "jwt") {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return name != "PASS"
}

// literal tells whether v, to which a variable of an environment is set, is a secret.
func literal(v string, k kind, f form) bool {
	if len(v) < 3 || k != password && k != apiToken || variable(v) || placeholder(v) || reference(v) || fileName(v) || isWord(v, "yes", "no", "off", "valid") {
		return false
	}
	_, _, dig := count(v)
	if dig == len(v) && (k == apiToken && len(v) < 8 || len(v) < 4) {
		return false
	}
	if strings.ContainsAny(v, " \t\n") {
		return f == environQuoted && k == password && !message(v)
	}
	return f == environQuoted || !isCode(v, environ)
}

// passphrase tells several words that are a password from a sentence about one.
func passphrase(v string) bool {
	if message(v) || strings.Count(v, " ") > 10 {
		return false
	}
	up, low, dig := count(v)
	if dig > 0 && up+low > 0 {
		return true
	}
	return strings.Count(v, " ") >= 3 && low+strings.Count(v, " ") == len(v)
}

// message tells a sentence that a program says about passwords.
func message(v string) bool {
	low := strings.ToLower(v)
	for _, w := range [...]string{
		"passw", "passphrase", "passcode", "must", "requir", "invalid", "enter", "your", "charac", "caract", "zeichen", "please", "cannot", "should",
		"forgot", "incorrect", "wrong", "at least", "minimum", "maximum", "letters", "digits", "fail", "error", "expire", "change", "mot de passe",
		"select ", "create ", "alter ", "insert ", "update ",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
