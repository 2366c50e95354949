package privacy

// A contextRule is a rule for secrets that show by what stands around them. Together with tokenTable, whose secrets show by
// their prefix, and flagTable, this is all that is looked for.
type contextRule struct{ name, finds, source string }

var contextRules = [...]contextRule{
	{"assignment", "a value behind a name such as password, api_key, client_secret: = : := => and their kin", "https://cwe.mitre.org/data/definitions/798.html"},
	{"environment", "the same, however weak, in capitals: DB_PASSWORD=abc", "https://12factor.net/config"},
	{"passphrase", "several words between quotes behind such a name, if they are no sentence about it", "https://pages.nist.gov/800-63-4/sp800-63b.html"},
	{"note", "a value of letters and digits that a note, a table or a sentence gives as a password", "https://cwe.mitre.org/data/definitions/312.html"},
	{"call", "the argument of setPassword('…') and its kin", "https://cwe.mitre.org/data/definitions/798.html"},
	{"number", "digits behind the name of a password", "https://pages.nist.gov/800-63-4/sp800-63b.html"},
	{"yaml-block", "the lines behind password: |", "https://yaml.org/spec/1.2.2/#81-block-scalar-styles"},
	{"pair", "the string behind the name of a header or a secret: [\"Authorization\", \"…\"]", "https://fetch.spec.whatwg.org/#headers-class"},
	{"header", "Authorization and Proxy-Authorization with a scheme", "https://www.rfc-editor.org/rfc/rfc9110#name-authorization"},
	{"cookie", "the values of cookies that open a session", "https://www.rfc-editor.org/rfc/rfc6265"},
	{"url", "the password of scheme://user:password@host", "https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1"},
	{"url-token", "a token in the place of the user: https://<token>@host", "https://git-scm.com/docs/gitcredentials"},
	{"dsn", "user:password@tcp(host)", "https://github.com/go-sql-driver/mysql#dsn-data-source-name"},
	{"sql", "the string behind IDENTIFIED BY and PASSWORD", "https://www.postgresql.org/docs/current/sql-alterrole.html"},
	{"command", "the argument of a program that takes a secret: see flagTable and command", "https://capec.mitre.org/data/definitions/37.html"},
	{"pipe", "echo secret | program that reads it; <<< secret", "https://docs.docker.com/reference/cli/docker/login/#password-stdin"},
	{"netrc", "machine x login y password z", "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html"},
	{"pgpass", "host:port:database:user:password", "https://www.postgresql.org/docs/current/libpq-pgpass.html"},
	{"hash", "the hashes of htpasswd and shadow files", "https://manpages.debian.org/crypt.5"},
	{"pem", "private keys in every armour: PEM, OpenSSH, PGP, SSH2", "https://www.rfc-editor.org/rfc/rfc7468"},
	{"putty", "the lines behind Private-Lines", "https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html"},
	{"jwk", "the private members of a JSON Web Key", "https://www.rfc-editor.org/rfc/rfc7517"},
	{"aws-secret", "the forty characters beside an AWS key id or behind its name", awsDocs},
	{"aws-session", "an AWS session token", awsDocs},
	{"aws-secrets-manager", "SecretString and SecretBinary", "https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html"},
	{"aws-parameter", "the value of a SecureString", "https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_Parameter.html"},
	{"kubernetes", "data and stringData of a Secret", "https://kubernetes.io/docs/concepts/configuration/secret/"},
	{"terraform-value", "sensitive values, and the result of random_password", "https://developer.hashicorp.com/terraform/internals/json-format"},
	{"azure", "account keys, shared access keys and signatures, client secrets", "https://learn.microsoft.com/purview/sit-defn-azure-ad-client-secret"},
	{"telegram", "the token of a bot", "https://core.telegram.org/bots/api#authorizing-your-bot"},
	{"mailchimp", "an API key", "https://mailchimp.com/developer/marketing/docs/fundamentals/"},
}
