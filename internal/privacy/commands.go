package privacy

import "strings"

// A flagRule says that behind a flag of a program stands a secret.
type flagRule struct {
	program string // a word of the line before the flag
	flag    string
	form    flagForm
	source  string
}

type flagForm uint8

const (
	apart    flagForm = iota // -a secret
	attached                 // -psecret
	either
	userPass // -u user:secret, apart or attached
	userRate // -U user%secret
	pairs    // -b name=secret; other=x
)

// flagTable lists the flags of one letter or so that give a secret.
var flagTable = [...]flagRule{
	{"curl", "-u", userPass, "https://curl.se/docs/manpage.html#-u"},
	{"curl", "--user", userPass, "https://curl.se/docs/manpage.html#-u"},
	{"curl", "-U", userPass, "https://curl.se/docs/manpage.html#-U"},
	{"curl", "--proxy-user", userPass, "https://curl.se/docs/manpage.html#-U"},
	{"curl", "-b", pairs, "https://curl.se/docs/manpage.html#-b"},
	{"curl", "--cookie", pairs, "https://curl.se/docs/manpage.html#-b"},
	{"wget", "-u", userPass, "https://www.gnu.org/software/wget/manual/wget.html"},
	{"wget", "--user", userPass, "https://www.gnu.org/software/wget/manual/wget.html"},
	{"mysql", "-p", attached, "https://dev.mysql.com/doc/refman/8.4/en/password-security-user.html"},
	{"mariadb", "-p", attached, "https://mariadb.com/docs/server/clients-and-utilities/mariadb-client/mariadb-command-line-client"},
	{"sshpass", "-p", either, "https://manpages.debian.org/sshpass.1"},
	{" login", "-p", apart, "https://docs.docker.com/reference/cli/docker/login/"},
	{"redis-cli", "-a", apart, "https://redis.io/docs/latest/develop/tools/cli/"},
	{"mongo", "-p", apart, "https://www.mongodb.com/docs/mongodb-shell/reference/options/"},
	{"sqlcmd", "-P", either, "https://learn.microsoft.com/sql/tools/sqlcmd/sqlcmd-utility"},
	{"unzip", "-P", apart, "https://manpages.debian.org/unzip.1"},
	{"zip", "-P", apart, "https://manpages.debian.org/zip.1"},
	{"7z", "-p", attached, "https://7-zip.opensource.jp/chm/cmdline/switches/password.htm"},
	{"ldap", "-w", apart, "https://www.openldap.org/software/man.cgi?query=ldapsearch"},
	{"smbclient", "-U", userRate, "https://www.samba.org/samba/docs/current/man-html/smbclient.1.html"},
	{"openssl enc", "-k", apart, "https://docs.openssl.org/master/man1/openssl-enc/"},
	{"plink", "-pw", apart, "https://the.earth.li/~sgtatham/putty/latest/htmldoc/Chapter3.html"},
	{"pscp", "-pw", apart, "https://the.earth.li/~sgtatham/putty/latest/htmldoc/Chapter3.html"},
	{"secret set", "--body", apart, "https://cli.github.com/manual/gh_secret_set"},
	{"secret set", "-b", apart, "https://cli.github.com/manual/gh_secret_set"},
	{"SecureString", "--value", apart, "https://docs.aws.amazon.com/cli/latest/reference/ssm/put-parameter.html"},
	{"put-secret-value", "--secret-string", apart, "https://docs.aws.amazon.com/cli/latest/reference/secretsmanager/put-secret-value.html"},
	{"create-secret", "--secret-string", apart, "https://docs.aws.amazon.com/cli/latest/reference/secretsmanager/create-secret.html"},
	{"create secret generic", "--from-literal", pairs, "https://kubernetes.io/docs/reference/kubectl/generated/kubectl_create/kubectl_create_secret_generic/"},
}

// shortFlag redacts the secret behind the flag at i, whose meaning the program's name tells.
func (s *scan) shortFlag(i int) int {
	if i == 0 || s.t[i-1] != ' ' && s.t[i-1] != '\t' || i+3 >= len(s.t) {
		return 0
	}
	line := ""
	for n := range flagTable {
		r := &flagTable[n]
		if s.t[i+1] != r.flag[1] || !strings.HasPrefix(s.t[i:], r.flag) {
			continue
		}
		if line == "" {
			line = s.lineOf(i)
		}
		if !hasProgram(line, r.program) {
			continue
		}
		v := i + len(r.flag)
		if c := s.t[v]; c != ' ' && c != '=' && c != '\t' {
			if r.form == apart || len(r.flag) > 2 {
				continue
			}
		} else if r.form == attached {
			continue
		} else if v++; c != '=' {
			for v < len(s.t) && s.t[v] == ' ' {
				v++
			}
		}
		if end := s.argument(r, v); end > 0 {
			return end
		}
	}
	return 0
}

// hasProgram tells whether a program is named on the line before its flag, behind the last pipe or semicolon.
func hasProgram(line, program string) bool {
	k := strings.LastIndex(line, program)
	if k < 0 || strings.ContainsAny(line[k:], "|;") {
		return false
	}
	if k == 0 || program[0] == ' ' || !isNameByte(line[k-1]) {
		return true
	}
	colour := strings.LastIndexByte(line[:k], 0x1b)
	return colour >= 0 && colourEnd(line[:k], colour+1, 0) == k
}

// argument redacts what is secret of the argument at v.
func (s *scan) argument(r *flagRule, v int) int {
	if v >= len(s.t) {
		return 0
	}
	end := 0
	if s.t[v] == '"' || s.t[v] == '\'' {
		v, end = s.quotedValue(v, 0)
	} else {
		end = s.bareEnd(v, true)
		end = v + len(strings.TrimRight(s.t[v:end], ",;)"))
	}
	sign := ""
	switch r.form {
	case userPass:
		sign = ":"
	case userRate:
		sign = "%"
	case pairs:
		if r.program == "curl" {
			return s.cookies(v, end)
		}
		sign = "="
	}
	if sign != "" {
		_, after, ok := strings.Cut(s.t[v:end], sign)
		if !ok {
			return 0
		}
		v = end - len(after)
	}
	return s.given(v, end, 1)
}

// given redacts a value that stands where only a secret can, unless it stands for one.
func (s *scan) given(v, end, least int) int {
	if end-v < least {
		return 0
	}
	if pw := strings.Trim(s.t[v:end], "\\\"'"); pw == "" || variable(pw) || placeholder(pw) || strings.IndexByte("-`$,:;)}]", pw[0]) >= 0 {
		return 0
	}
	return s.redact(v, end)
}

// command redacts the secret that a command or a line of a file gives behind a word that ends at end. The sources:
//
//   - ENV NAME value: https://docs.docker.com/reference/dockerfile/#env
//   - setx NAME value: https://learn.microsoft.com/windows-server/administration/windows-commands/setx
//   - set -x NAME value: https://fishshell.com/docs/current/cmds/set.html
//   - SetEnv NAME value: https://httpd.apache.org/docs/2.4/mod/mod_env.html
//   - requirepass value: https://redis.io/docs/latest/operate/oss_and_stack/management/security/
//   - machine x login y password z: https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html
//   - htpasswd -b file user password: https://httpd.apache.org/docs/2.4/programs/htpasswd.html
//   - SecureString<tab>value: https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-output-format.html
func (s *scan) command(from, end int) int {
	v := s.blank(end)
	switch s.t[from:end] {
	case "ENV", "setx", "SetEnv":
		return s.named(v, s.t[from] == 'E')
	case "set":
		return s.fish(v)
	case "requirepass", "masterauth":
		return s.given(v, s.bareEnd(v, true), 3)
	case "htpasswd":
		return s.htpasswd(v)
	case "password":
		if s.netrc(from) {
			return s.given(v, s.bareEnd(v, true), 1)
		}
	case "SecureString":
		if s.t[end] == '\t' {
			return s.given(v, s.bareEnd(v, true), 1)
		}
		if strings.HasSuffix(s.t[:from], "ConvertTo-") {
			if strings.HasPrefix(s.t[v:], "-String ") {
				v = s.blank(v + len("-String "))
			}
			if v < len(s.t) && (s.t[v] == '"' || s.t[v] == '\'') {
				a, b := s.quotedValue(v, 0)
				return s.given(a, b, 1)
			}
		}
	case "net":
		return s.netUse(v)
	}
	return 0
}

// netUse redacts the password of "net use z: \\\\server\\share password /user:mia", behind whose net v is.
func (s *scan) netUse(v int) int {
	line := s.ahead(v)
	if !strings.HasPrefix(line, "use ") || !strings.Contains(line, "/user:") {
		return 0
	}
	share := strings.Index(line, ` \\`)
	if share < 0 {
		return 0
	}
	at := share + 1 + strings.IndexByte(line[share+1:]+" ", ' ') + 1
	if at >= len(line) {
		return 0
	}
	end := at + strings.IndexByte(line[at:]+" ", ' ')
	if line[at] == '/' || line[at] == '*' {
		return 0
	}
	return s.given(v+at, v+end, 3)
}

// blank is the index behind the spaces and tabs at i.
func (s *scan) blank(i int) int {
	for i < len(s.t) && (s.t[i] == ' ' || s.t[i] == '\t') {
		i++
	}
	return i
}

// named redacts the value of "NAME value" at i when the name is a secret's; whole tells that the value is the rest of
// the line.
func (s *scan) named(i int, whole bool) int {
	end := s.run(i, alnum|under)
	k := kindOf(s.t[i:end])
	if k != password && k != apiToken || end >= len(s.t) || s.t[end] != ' ' && s.t[end] != '\t' {
		return 0
	}
	v := s.blank(end)
	if v >= len(s.t) {
		return 0
	}
	f, to := environ, 0
	if s.t[v] == '"' || s.t[v] == '\'' {
		f = environQuoted
		v, to = s.quotedValue(v, 0)
	} else if to = s.bareEnd(v, true); whole {
		text := s.ahead(v)
		text, _, _ = strings.Cut(text, `"`)
		to = v + len(strings.TrimRight(text, " \t\\"))
		f = environQuoted
	}
	return s.judge(k, f, v, to)
}

// fish redacts the value of "set -x NAME value", whose flags begin at i.
func (s *scan) fish(i int) int {
	exported := false
	for i < len(s.t) && s.t[i] == '-' {
		end := s.run(i, alnum|dash)
		flag := s.t[i:end]
		exported = exported || flag == "--export" || !strings.HasPrefix(flag, "--") && strings.Contains(flag, "x")
		i = s.blank(end)
	}
	if !exported {
		return 0
	}
	return s.named(i, false)
}

// htpasswd redacts the password that "htpasswd -b file user password" is given, whose flags begin at i.
func (s *scan) htpasswd(i int) int {
	text, _, _ := strings.Cut(s.ahead(i), "|")
	at, batch, n := 0, false, false
	words := 0
	for at < len(text) {
		from := at + len(text[at:]) - len(strings.TrimLeft(text[at:], " \t"))
		end := from
		for end < len(text) && text[end] != ' ' && text[end] != '\t' {
			end++
		}
		switch w := text[from:end]; {
		case w == "":
		case w[0] == '-':
			batch = batch || strings.Contains(w, "b")
			n = n || strings.Contains(w, "n")
		default:
			words++
			if batch && (words == 3 || n && words == 2) {
				w = strings.Trim(w, `"'`)
				from += strings.Index(text[from:end], w)
				return s.given(i+from, i+from+len(w), 1)
			}
		}
		at = end
	}
	return 0
}

// netrc tells whether the word at i is the password of an entry of a .netrc.
func (s *scan) netrc(i int) bool {
	before := s.t[max(0, i-300):i]
	if !strings.Contains(before, "login") {
		return false
	}
	f := strings.Fields(before)
	if n := len(f); n >= 2 && f[n-2] == "account" {
		f = f[:n-2]
	}
	n := len(f)
	if n < 3 || f[n-2] != "login" {
		return false
	}
	if strings.HasSuffix(f[n-3], "default") {
		return true
	}
	return n >= 4 && strings.HasSuffix(f[n-4], "machine") && strings.IndexByte(":,", f[n-3][len(f[n-3])-1]) < 0
}

// piped redacts what is piped into a program that reads a secret: echo secret | docker login --password-stdin, and
// <<< secret. The mark is at i. Source: https://docs.docker.com/reference/cli/docker/login/#password-stdin
func (s *scan) piped(i int) int {
	if s.t[i] == '<' {
		line := s.lineOf(i)
		if !strings.HasPrefix(s.t[i:], "<<<") || !readsSecret(line) && !strings.Contains(line, "secret put") {
			return 0
		}
		v := s.blank(i + 3)
		if v < len(s.t) && (s.t[v] == '"' || s.t[v] == '\'') {
			a, b := s.quotedValue(v, 0)
			return s.given(a, b, 1)
		}
		return s.given(v, s.bareEnd(v, true), 1)
	}
	rest := s.ahead(i + 1)
	if k := strings.IndexByte(rest, '|'); k >= 0 {
		rest = rest[:k]
	}
	if !readsSecret(rest) {
		return 0
	}
	line := s.lineOf(i)
	from := i - len(line)
	k := max(strings.LastIndex(line, "echo "), strings.LastIndex(line, "printf "))
	if k < 0 || strings.ContainsAny(line[k:], ";|&") {
		return 0
	}
	v := from + k + strings.IndexByte(line[k:], ' ')
	for v = s.blank(v); v < i && s.t[v] == '-'; v = s.blank(v) {
		v = s.bareEnd(v, true)
	}
	end := v + len(strings.TrimRight(s.t[v:max(i, v)], " "))
	if v < end && (s.t[v] == '"' || s.t[v] == '\'') {
		v, end = s.quotedValue(v, 0)
	}
	if strings.HasPrefix(s.t[v:end], "%s") {
		return 0
	}
	return s.given(v, end, 1)
}

// readsSecret tells whether a command reads a secret from its standard input.
func readsSecret(command string) bool {
	for _, w := range [...]string{"--password-stdin", "--with-token", "--pass-stdin", "sudo -S", "chpasswd", "passwd --stdin", "secret put", "secret set"} {
		if strings.Contains(command, w) {
			return true
		}
	}
	return false
}

// dataSource redacts the password of user:password@tcp(host), whose @ is at i.
// Source: https://github.com/go-sql-driver/mysql#dsn-data-source-name
func (s *scan) dataSource(i int) int {
	rest := s.t[i+1:]
	if !strings.HasPrefix(rest, "tcp(") && !strings.HasPrefix(rest, "unix(") && !strings.HasPrefix(rest, "tcp6(") && !strings.HasPrefix(rest, "cloudsql(") {
		return 0
	}
	from := i
	for from > 0 && i-from < 256 && strings.IndexByte(" \t\r\n\"'`=", s.t[from-1]) < 0 {
		from--
	}
	user, pw, ok := strings.Cut(s.t[from:i], ":")
	if !ok || user == "" && pw == "" {
		return 0
	}
	return s.given(i-len(pw), i, 1)
}

// hash redacts the hash of a password, as htpasswd, shadow files and databases have it: $2y$…, $6$…, {SHA}….
// Sources: https://manpages.debian.org/crypt.5, https://httpd.apache.org/docs/2.4/misc/password_encryptions.html
func (s *scan) hash(i int) int {
	if s.t[i] == '{' {
		for _, w := range [...]string{"{SHA}", "{SSHA}"} {
			if end := s.run(i+len(w), base64s); strings.HasPrefix(s.t[i:], w) && end-i-len(w) >= 26 {
				return s.redact(i+len(w), end)
			}
		}
		return 0
	}
	id := s.run(i+1, alnum|dash)
	if end := s.run(id+1, base64s|dot); id < len(s.t) && s.t[id] == '$' && end > id+1 {
		switch s.t[i+1 : id] {
		case "1", "5", "6", "y", "gy", "7", "apr1", "2a", "2b", "2y", "2x", "argon2i", "argon2id", "argon2d":
		default:
			return 0
		}
		for n := 0; n < 6 && end < len(s.t) && (s.t[end] == '$' || s.t[end] == ','); n++ {
			end = s.run(end+1, base64s|dot)
		}
		if end-id > 24 && varied(s.t[id:end]) {
			return s.redact(i, end)
		}
	}
	return 0
}

// passFile redacts the password of a line of a .pgpass, host:port:database:user:password, if the colon at i is the
// first. Source: https://www.postgresql.org/docs/current/libpq-pgpass.html
func (s *scan) passFile(i int) int {
	port := s.run(i+1, digits)
	if port < len(s.t) && port == i+1 && s.t[port] == '*' {
		port++
	}
	if port >= len(s.t) || s.t[port] != ':' {
		return 0
	}
	switch s.t[i+1 : port] {
	case "*", "5432", "5433", "5434", "6432", "6543", "26257":
	default:
		return 0
	}
	line := s.lineOf(i)
	if line == "" || strings.ContainsAny(line, ": \t\"'=,") {
		return 0
	}
	rest := s.ahead(port + 1)
	f := strings.SplitN(rest, ":", 3)
	if len(f) != 3 || f[0] == "" || f[1] == "" || strings.ContainsAny(rest, " \t\"',(){}") {
		return 0
	}
	end := port + 1 + len(rest)
	return s.given(end-len(f[2]), end, 1)
}
