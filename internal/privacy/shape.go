package privacy

import "strings"

// kindOf says what a name such as DB_PASSWORD, clientSecret or x-api-key is the name of.
func kindOf(name string) kind {
	if len(name) < 2 {
		return plain
	}
	name = baseName(name)
	if name == "" {
		return plain
	}
	switch name[len(name)-1] | 0x20 { // with which none of the names below ends
	case 'a', 'b', 'c', 'f', 'i', 'j', 'k', 'm', 'o', 'q', 'r', 'u', 'v', 'x', 'z':
		return plain
	}
	var buf [32]byte // longer than any of the words below, and short enough for a string without allocation
	flat := buf[:0]
	for i := max(0, len(name)-len(buf)); i < len(name); i++ {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			flat = append(flat, c+'a'-'A')
		} else if c != '_' && c != '-' && c != '.' {
			flat = append(flat, c)
		}
	}
	if len(flat) < 2 {
		return plain
	}
	n := string(flat)
	switch n[len(n)-1] {
	case 'd', 'e', 't', 's', 'p', 'w':
		if hasSuffix(n, "password", "passwd", "passphrase", "passcode", "pwd", "userpass", "dbpass", "storepass", "keypass") || lastWord(name, "pass") || lastWord(name, "pw") {
			return password
		}
	}
	switch n {
	case "passwort", "kennwort", "motdepasse":
		return password
	case "secretstring", "secretbinary": // https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
		return entire
	case "authorization", "proxyauthorization", "xauthorization":
		return authorization
	case "cookie", "setcookie":
		return cookie
	case "sig", "signature", "xamzsignature", "xgoogsignature":
		return signature
	case "auth":
		return basicAuth
	}
	switch n[len(n)-1] {
	case 't', 'n', 'y', 'l', 's', 'e':
		if hasSuffix(n, "secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "privkey", "signingkey", "encryptionkey",
			"masterkey", "authkey", "accountkey", "storagekey", "servicekey", "rolekey", "hmackey", "sessionkey", "clientkey",
			"secretkeybase", "credential", "credentials") || lastWord(name, "pat") || lastWord(name, "jwt") {
			if pages(n) {
				return plain
			}
			return apiToken
		}
	}
	return plain
}

// baseName takes off what says which of several secrets is meant: API_KEY_PROD, password2, TOKEN_OLD.
func baseName(name string) string {
	for range 3 {
		for name != "" && (joins(name[len(name)-1]) || name[len(name)-1]-'0' < 10) {
			name = name[:len(name)-1]
		}
		k := len(name) - 1
		for k >= 0 && !joins(name[k]) {
			k--
		}
		if k < 1 {
			return name
		}
		if !isWord(name[k+1:], "prod", "production", "dev", "development", "test", "testing", "staging", "stage", "live", "old", "new",
			"plain", "plaintext", "value", "raw", "b64", "base64", "backup", "primary", "secondary") {
			return name
		}
		name = name[:k]
	}
	return name
}

// joins tells the bytes that join the words of a name.
func joins(c byte) bool { return c == '_' || c == '-' || c == '.' }

func hasSuffix(s string, suffixes ...string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

// lastWord tells whether a name's last word, set apart by punctuation or a capital, is w.
func lastWord(name, w string) bool {
	k := len(name) - len(w)
	if k < 0 || !strings.EqualFold(name[k:], w) {
		return false
	}
	return k == 0 || strings.IndexByte("_-.", name[k-1]) >= 0 || name[k] < 'a' && name[k-1] >= 'a'
}

// pages tells the tokens that page through a list or belong to a tokenizer.
func pages(flat string) bool {
	w, ok := strings.CutSuffix(flat, "token")
	if !ok {
		return false
	}
	return hasSuffix(w, "next", "page", "continuation", "cancellation", "cancel", "eos", "bos", "pad", "unk", "sep", "cls", "mask", "stop", "start", "end", "special", "sync")
}

// isType tells the names of types that stand between a name and its value.
func isType(name string) bool {
	switch name {
	case "string", "str", "String", "char", "NSString", "bytes", "Optional", "SecretStr", "any", "Any":
		return true
	}
	return false
}

// secretValue tells whether v, the value of a secret's name, is itself the secret, rather than a variable, a type, code,
// a placeholder or a message about it.
func secretValue(v string, k kind, f form) bool {
	up, low, dig := count(v)
	letters := up + low
	if f == environ || f == environQuoted {
		if literal(v, k, f) {
			return true
		}
		if f == environQuoted {
			f = quoted
		} else {
			f = direct
		}
	}
	if len(v) < 4 || variable(v) || placeholder(v) || reference(v) || f != quoted && isCode(v, f) {
		return false
	}
	signs := strings.ContainsAny(v, "!@#$%^&*+=~?")
	if strings.ContainsAny(v, " \t\n") {
		return k == password && f == quoted && passphrase(v)
	}
	if k == apiToken {
		switch {
		case len(v) < 8:
			return false
		case dig > 0 && letters > 0:
			return !wordy(v) && !numbered(v)
		case dig > 0:
			return len(v) >= 20 && isPort(v)
		}
		return scrambled(v)
	}
	switch {
	case dig > 0 && letters > 0:
		return len(v) >= 5
	case dig > 0:
		return len(v) >= 6 && f != bare || signs && len(v) >= 6
	case signs && letters > 0:
		return len(v) >= 6 && f != bare
	case low == len(v):
		return f == quoted && len(v) >= 8 || f == direct && len(v) >= 6
	}
	return scrambled(v)
}

// variable tells what only stands for a value: $NAME, ${…}, {{…}}, %s, <…>, ***, and what was redacted before.
func variable(v string) bool {
	if v == "" || strings.Contains(v, Redacted) || strings.Contains(v, "${") || strings.Contains(v, "$(") ||
		strings.Contains(v, "{{") || strings.Contains(v, "#{") || strings.Contains(v, "<%") {
		return true
	}
	last := v[len(v)-1]
	switch v[0] {
	case '\\':
		return strings.HasPrefix(strings.TrimLeft(v, `\`), "u003c") // <…>, as JSON for the web spells it
	case '$':
		return strings.Trim(v[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-") == ""
	case '<':
		return last == '>'
	case '{':
		return last == '}'
	case '[', '(':
		return true
	case '%':
		return len(v) < 4 || last == '%' || v[1] == '('
	}
	return len(v) > 2 && strings.Trim(v, v[:1]) == "" || strings.Trim(v, "*.•…xX") == "" || strings.Contains(v, "****")
}

// placeholder tells the words that people write where a secret belongs.
func placeholder(v string) bool {
	if len(v) > 64 {
		return false
	}
	low := strings.ToLower(v)
	switch low {
	case "password", "passwd", "secret", "token", "string", "none", "null", "nil", "true", "false", "undefined", "required",
		"optional", "hidden", "text", "example", "todo", "redacted", "masked", "prompt", "number", "object", "boolean",
		"integer", "bytes", "disabled", "enabled", "default", "invalid", "incorrect", "missing", "forgotten", "expired",
		"protected", "encrypted", "plaintext", "username", "unchanged", "expected", "current", "bearer", "basic", "stdin",
		"changeme", "unknown", "available", "confirmed", "generated", "provided", "varchar", "credential", "credentials",
		"anonymous", "authorization", "forbidden", "security", "settings", "account", "property", "function", "interface",
		"password1", "passphrase", "hash", "value", "input", "field", "argument", "parameter", "process":
		return true
	}
	for _, w := range [...]string{"your", "placeholder", "changeme", "change_me", "change-me", "replace_", "replace-", "insert_", "insert-", "xxxx", "..."} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// reference tells the names of places: paths, addresses, the resource names of secret stores, digests.
func reference(v string) bool {
	switch {
	case strings.HasPrefix(v, "./"), strings.HasPrefix(v, "../"), strings.HasPrefix(v, "~/"), strings.Contains(v, "://"):
		return true
	case strings.HasPrefix(v, "arn:"), strings.HasPrefix(v, "vault:"), strings.HasPrefix(v, "ssm:"), strings.HasPrefix(v, "env:"),
		strings.HasPrefix(v, "file:"), strings.HasPrefix(v, "projects/"), strings.HasPrefix(v, "ENC["),
		strings.HasPrefix(v, "sha256:"), strings.HasPrefix(v, "sha256-"), strings.HasPrefix(v, "sha512-"), strings.HasPrefix(v, "sha1-"):
		return true
	case len(v) > 3 && v[1] == ':' && v[2] == '\\':
		return true
	}
	return v[0] == '/' && (!mixed(v) || strings.Count(v, "/") > 2 && len(v) != 40)
}

// isCode tells an unquoted value that a program computes, or that is a type.
func isCode(v string, f form) bool {
	up, low, dig := count(v)
	if v[0] == '{' || strings.ContainsAny(v, "()[]{}") && (f == bare || low > 0 && strings.ContainsAny(v, "([")) {
		return true
	}
	if strings.Contains(v, "::") || strings.Contains(v, "->") || v[0] == '!' || v[0] == '&' || v[0] == '*' || v[0] == '|' {
		return f == bare
	}
	stem := strings.TrimRight(v, "0123456789")
	switch strings.ToLower(stem) {
	case "int", "uint", "float", "utf", "sha", "md", "base", "oauth", "rsa", "hs", "rs", "es", "aes", "ascii", "string", "varchar", "char":
		return true
	}
	if f == direct && strings.Contains(v, ".") && isChain(v) && namesSecret(v) {
		return true // t.password
	}
	if f == environ && v[0] <= 'Z' && !strings.Contains(v, ".") && !namesSecret(v) {
		return false // a word or letters that were drawn: a variable begins with a small letter
	}
	if f == direct || f == environ {
		return dig == 0 && up > 0 && low > 0 && isChain(v) && !scrambled(v)
	}
	if strings.HasPrefix(v, "0x") && len(v) <= len("0x")+16 {
		return true
	}
	if !isChain(v) {
		return false
	}
	if len(v) < 32 && namesSecret(v) {
		return true
	}
	return strings.Contains(v, ".") && (len(v) < 20 || !mixed(v[strings.LastIndexByte(v, '.')+1:]))
}

// namesSecret tells an identifier that is itself the name of a secret.
func namesSecret(v string) bool {
	flat := strings.ToLower(v)
	for _, w := range [...]string{"pass", "token", "secret", "key", "cred", "auth"} {
		if strings.Contains(flat, w) {
			return true
		}
	}
	return false
}

// isChain tells identifiers joined by dots: cfg.db.password.
func isChain(v string) bool {
	for part := range strings.SplitSeq(strings.ReplaceAll(v, "?.", "."), ".") {
		if part == "" || part[0] >= '0' && part[0] <= '9' {
			return false
		}
		for i := 0; i < len(part); i++ {
			if c := part[i]; c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}

// wordy tells a value made of words and short numbers, such as my-secret-name or test_token_1.
func wordy(v string) bool {
	words := 0
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune("-_./: ", r) }) {
		up, low, dig := count(part)
		switch {
		case dig == len(part) && dig <= 4:
		case low == len(part), up == len(part), up == 1 && low == len(part)-1 && part[0] < 'a':
			words++
		default:
			return false
		}
	}
	return words > 0
}

// numbered tells an identifier with a number: encryptionKey1024.
func numbered(v string) bool {
	word := strings.TrimRight(v, "0123456789")
	up, low, _ := count(word)
	n := len(v) - len(word)
	return (n <= 2 || n <= 4 && low > 0) && len(word) >= 6 && up+low == len(word) && !scrambled(word)
}

// scrambled tells letters that no words were made of: in camelCase, one or two small letters seldom stand between
// capitals.
func scrambled(v string) bool {
	short, run := 0, 0
	for i := 0; i <= len(v); i++ {
		if i < len(v) && v[i] >= 'a' && v[i] <= 'z' {
			run++
			continue
		}
		if run == 1 || run == 2 {
			short++
		}
		run = 0
	}
	return len(v) >= 12 && short >= 3
}
